//! The picture as pixels, for where an SVG is not taken.

use anyhow::{Context, bail};
use resvg::{
    render,
    tiny_skia::{Color, Pixmap, Transform},
    usvg::{Options, Tree, fontdb::Database},
};

/// Twice the size in which it was drawn, so that words are sharp on any screen.
const SCALE: f32 = 2.0;

/// Fonts whose digits and letters suit the picture, the best first.
const FONTS: [&str; 6] = ["Inter", "Helvetica", "Arial", "Liberation Sans", "Noto Sans", "DejaVu Sans"];

pub(super) fn from_svg(svg: &str) -> anyhow::Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    let Some(font) = sans_serif(fonts) else {
        bail!(
            "a PNG needs a font for its words, and none is installed here: write the picture as .svg, or install fonts-dejavu-core"
        );
    };
    fonts.set_sans_serif_family(font);
    let tree = Tree::from_str(svg, &options).context("cannot read the picture")?;
    let size = tree.size().to_int_size().scale_by(SCALE).context("the picture has no size")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).context("the picture is too large")?;
    pixels.fill(Color::WHITE);
    render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().context("cannot encode the picture")
}

/// A family that is installed: one of those that suit, or any.
fn sans_serif(fonts: &Database) -> Option<String> {
    let is_there = |name: &str| fonts.faces().any(|face| face.families.iter().any(|family| family.0 == name));
    let any = || fonts.faces().find_map(|face| face.families.first()).map(|family| family.0.clone());
    FONTS.into_iter().find(|name| is_there(name)).map(str::to_owned).or_else(any)
}
