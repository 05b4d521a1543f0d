//! A small writer of SVG: axes, lines, words. Knows nothing of filters.

use std::fmt::Write;

/// A picture in the making.
pub(super) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// Where words stand against their point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

const STYLE: &str = "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#374151}\
.title{font-size:17px;font-weight:600;fill:#111827}.note{font-size:12px;fill:#6b7280}\
.tick{font-size:12px;fill:#6b7280}.label{font-size:13px}.name{font-size:12.5px;font-weight:600}";

impl Svg {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.put(&format!(r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" {style}/>"#));
    }

    pub(super) fn path(&mut self, points: &[(f64, f64)], style: &str) {
        let text: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.put(&format!(r#"<polyline points="{}" fill="none" {style}/>"#, text.join(" ")));
    }

    pub(super) fn area(&mut self, points: &[(f64, f64)], style: &str) {
        let text: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.put(&format!(r#"<polygon points="{}" {style}/>"#, text.join(" ")));
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), color: &str) {
        self.put(&format!(
            r##"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{color}" stroke="#fff" stroke-width="1.5"/>"##
        ));
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        self.words((x, y), anchor, class, "", text);
    }

    pub(super) fn colored(&mut self, (x, y): (f64, f64), anchor: Anchor, color: &str, text: &str) {
        self.words((x, y), anchor, "name", &format!(r#" style="fill:{color}""#), text);
    }

    fn words(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, style: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.put(&format!(
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" class="{class}"{style}>{text}</text>"#
        ));
    }

    fn put(&mut self, element: &str) {
        writeln!(self.body, "{element}").expect("a string takes everything");
    }

    pub(super) fn finish(self) -> String {
        let Self { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
             <style>{STYLE}</style>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
        )
    }
}

/// A field with two axes: from numbers to places.
#[derive(Clone, Copy)]
pub(super) struct Axes {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) x: Scale,
    pub(super) y: Scale,
}

/// From a number to a part of an axis.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) log: bool,
}

impl Scale {
    fn part(self, value: f64) -> f64 {
        match self.log {
            true => (value.ln() - self.from.ln()) / (self.to.ln() - self.from.ln()),
            false => (value - self.from) / (self.to - self.from),
        }
    }
}

impl Axes {
    pub(super) fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let x = self.left + (self.right - self.left) * self.x.part(x);
        (x, self.bottom - (self.bottom - self.top) * self.y.part(y))
    }

    /// The part of a line that lies in the field, up to where it leaves at the top.
    pub(super) fn inside(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let places: Vec<(f64, f64)> = points.iter().map(|point| self.at(*point)).collect();
        let mut kept = Vec::new();
        for pair in places.windows(2) {
            let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
            let cut = |y: f64| (x1 + (x2 - x1) * (y - y1) / (y2 - y1), y);
            match (y1 >= self.top, y2 >= self.top) {
                (true, true) => kept.extend([(x1, y1), (x2, y2)]),
                (true, false) => kept.extend([(x1, y1), cut(self.top)]),
                (false, true) => kept.extend([cut(self.top), (x2, y2)]),
                (false, false) => {}
            }
        }
        kept.dedup();
        kept
    }

    pub(super) fn grid(&self, svg: &mut Svg, xs: &[(f64, String)], ys: &[(f64, String)]) {
        for (value, name) in ys {
            let (_, y) = self.at((self.x.from, *value));
            svg.line((self.left, y), (self.right, y), r##"stroke="#e5e7eb" stroke-width="1""##);
            svg.text((self.left - 8.0, y + 4.0), Anchor::End, "tick", name);
        }
        for (value, name) in xs {
            let (x, _) = self.at((*value, self.y.from));
            svg.line((x, self.top), (x, self.bottom), r##"stroke="#f3f4f6" stroke-width="1""##);
            svg.text((x, self.bottom + 18.0), Anchor::Middle, "tick", name);
        }
        svg.line(
            (self.left, self.bottom),
            (self.right, self.bottom),
            r##"stroke="#9ca3af" stroke-width="1""##,
        );
    }
}
