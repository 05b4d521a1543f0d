//! The picture of a plan: space against rate on the left, the rate of filters that are filled too far in the middle, the rate against
//! the probes of a classic filter on the right. `gowk web` draws the same curves.

use super::svg::{Anchor, Axes, Scale, Svg};
use crate::numbers;
use gowk::{
    Family,
    curves::{self, Curve, information_limit},
};

const WIDTH: f64 = 1700.0;
const HEIGHT: f64 = 560.0;

pub(super) fn draw(items: u64, fpp: f64, best: Option<Family>) -> String {
    let mut svg = Svg::new(WIDTH, HEIGHT);
    space(&mut svg, items, fpp, best);
    overfilled(&mut svg, items, fpp, best);
    probes(&mut svg, items, fpp);
    svg.finish()
}

/// Colours that are told apart by most eyes, and in grey.
fn color(family: Family) -> &'static str {
    match family {
        Family::BlockedBloom => "#1d4ed8",
        Family::Bloom => "#0891b2",
        Family::SplitBlockBloom => "#7c3aed",
        Family::Cuckoo => "#c2410c",
        Family::BinaryFuse => "#15803d",
        Family::Window => "#a16207",
        Family::CountingBloom => "#be185d",
        _ => "#374151",
    }
}

fn stroke(family: Family, best: Option<Family>) -> String {
    let width = if best == Some(family) { 3.5 } else { 2.0 };
    format!(
        r#"stroke="{}" stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round""#,
        color(family)
    )
}

fn space(svg: &mut Svg, items: u64, fpp: f64, best: Option<Family>) {
    // Two decades on either side of what was asked for, and never beyond what there is.
    let least = (fpp / 1_000.0).clamp(1e-9, 1e-5);
    let most = (fpp * 10.0).clamp(0.1, 0.5);
    let rates: Vec<f64> = (0..=120).map(|i| least * (most / least).powf(f64::from(i) / 120.0)).collect();
    // The counting filter takes four times the bits and would press the others together.
    let curves: Vec<Curve> = curves::space(items.max(10_000), &rates)
        .into_iter()
        .filter(|curve| curve.family != Family::CountingBloom || best == Some(Family::CountingBloom))
        .collect();
    let highest = curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(0.0, f64::max);
    let top = (highest / 10.0).ceil() * 10.0;
    // The rate falls to the right: less error, more space.
    let axes = Axes {
        left: 70.0,
        right: 540.0,
        top: 90.0,
        bottom: 480.0,
        x: Scale { from: most, to: least, log: true },
        y: Scale { from: 0.0, to: top, log: false },
    };
    svg.text((axes.left - 40.0, 36.0), Anchor::Start, "title", "What a rate costs in space");
    svg.text(
        (axes.left - 40.0, 58.0),
        Anchor::Start,
        "note",
        &format!("bits a key, {} keys", numbers::count(items as f64)),
    );
    let decades = (least.log10().ceil() as i32..=most.log10().floor() as i32).map(|power| 10f64.powi(power));
    let xs: Vec<(f64, String)> = decades.map(|rate| (rate, numbers::rate(rate))).collect();
    let step = if top > 40.0 { 10 } else { 5 };
    let ys: Vec<(f64, String)> =
        (0..=top as u32).step_by(step).map(|y| (f64::from(y), y.to_string())).collect();
    axes.grid(svg, &xs, &ys);
    svg.text(
        (f64::midpoint(axes.left, axes.right), axes.bottom + 44.0),
        Anchor::Middle,
        "label",
        "rate of false positives",
    );

    let limit: Vec<(f64, f64)> =
        rates.iter().rev().map(|rate| axes.at((*rate, information_limit(*rate)))).collect();
    let mut under = limit.clone();
    under.extend([(axes.right, axes.bottom), (axes.left, axes.bottom)]);
    svg.area(&under, r##"fill="#f3f4f6""##);
    svg.path(&limit, r##"stroke="#9ca3af" stroke-width="1.5" stroke-dasharray="4 4""##);
    let (x, y) = axes.at((least, information_limit(least)));
    let mut names = vec![(y, "#6b7280", "information limit".to_owned())];
    for curve in &curves {
        let points: Vec<(f64, f64)> = curve.points.iter().rev().copied().collect();
        svg.path(&axes.inside(&points), &stroke(curve.family, best));
        if let Some(last) = points.last() {
            names.push((axes.at(*last).1, color(curve.family), curve.family.to_string()));
        }
    }
    let asked = axes.at((fpp, 0.0)).0;
    svg.line(
        (asked, axes.top),
        (asked, axes.bottom),
        r##"stroke="#111827" stroke-width="1" stroke-dasharray="2 3""##,
    );
    svg.text((asked, axes.top - 8.0), Anchor::Middle, "tick", &format!("asked: {}", numbers::rate(fpp)));
    let mark = |curve: &&Curve| Some(curve.family) == best;
    if let Some(curve) = curves.iter().find(mark)
        && let Some(point) =
            curve.points.iter().min_by(|a, b| (a.0 / fpp).ln().abs().total_cmp(&(b.0 / fpp).ln().abs()))
    {
        svg.dot(axes.at((fpp, point.1)), color(curve.family));
    }
    put_names(svg, x + 10.0, names);
}

fn overfilled(svg: &mut Svg, items: u64, fpp: f64, best: Option<Family>) {
    let loads: Vec<f64> = (1..=120).map(|i| f64::from(i) / 40.0).collect();
    let curves = curves::overfilled(items.max(10_000), fpp, &loads);
    let axes = Axes {
        left: 770.0,
        right: 1090.0,
        top: 90.0,
        bottom: 480.0,
        x: Scale { from: 0.0, to: 3.0, log: false },
        y: Scale { from: fpp / 100.0, to: 1.0, log: true },
    };
    svg.text((axes.left - 50.0, 36.0), Anchor::Start, "title", "What becomes of it when more keys come");
    let note = format!(
        "rate of false positives, made for {} at {}",
        numbers::count(items as f64),
        numbers::rate(fpp)
    );
    svg.text((axes.left - 50.0, 58.0), Anchor::Start, "note", &note);
    let xs: Vec<(f64, String)> = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0].map(|load| (load, format!("{load}x"))).into();
    let lowest = (fpp / 100.0).log10().ceil() as i32;
    let ys: Vec<(f64, String)> =
        (lowest..=0).map(|power| (10f64.powi(power), numbers::rate(10f64.powi(power)))).collect();
    axes.grid(svg, &xs, &ys);
    svg.text(
        (f64::midpoint(axes.left, axes.right), axes.bottom + 44.0),
        Anchor::Middle,
        "label",
        "keys inside, of those promised",
    );
    let (x, y) = axes.at((1.0, fpp));
    svg.line(
        (x, axes.top),
        (x, axes.bottom),
        r##"stroke="#111827" stroke-width="1" stroke-dasharray="2 3""##,
    );
    svg.line(
        (axes.left, y),
        (axes.right, y),
        r##"stroke="#111827" stroke-width="1" stroke-dasharray="2 3""##,
    );
    svg.text((x, axes.top - 8.0), Anchor::Middle, "tick", "as promised");
    let mut names = Vec::new();
    for curve in &curves {
        let low = axes.y.from;
        let points: Vec<(f64, f64)> = curve.points.iter().copied().filter(|(_, rate)| *rate >= low).collect();
        svg.path(&axes.inside(&points), &stroke(curve.family, best));
        let Some(last) = points.last() else { continue };
        let (end, height) = axes.at(*last);
        match curve.family {
            Family::Cuckoo => {
                svg.dot((end, height), color(curve.family));
                svg.colored((end + 8.0, height + 16.0), Anchor::Start, color(curve.family), "cuckoo: full");
            }
            family => names.push((height, color(family), family.to_string())),
        }
    }
    put_names(svg, axes.right + 10.0, names);
}

fn probes(svg: &mut Svg, items: u64, fpp: f64) {
    let Ok(points) = curves::probes(items.max(10_000), fpp) else { return };
    let Some(best) = points.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    let most = points.len() as f64;
    let axes = Axes {
        left: 1310.0,
        right: 1660.0,
        top: 90.0,
        bottom: 480.0,
        x: Scale { from: 1.0, to: most, log: false },
        y: Scale { from: 10f64.powf(best.1.log10().floor()), to: 1.0, log: true },
    };
    svg.text((axes.left - 50.0, 36.0), Anchor::Start, "title", "How many bits a key should set");
    let note = "rate of a classic Bloom filter of that size, against its probes";
    svg.text((axes.left - 50.0, 58.0), Anchor::Start, "note", note);
    let step = if most > 24.0 { 5 } else { 2 };
    let xs: Vec<(f64, String)> =
        points.iter().step_by(step).map(|(probes, _)| (*probes, probes.to_string())).collect();
    let lowest = axes.y.from.log10().round() as i32;
    let ys: Vec<(f64, String)> =
        (lowest..=0).map(|power| (10f64.powi(power), numbers::rate(10f64.powi(power)))).collect();
    axes.grid(svg, &xs, &ys);
    let middle = f64::midpoint(axes.left, axes.right);
    svg.text((middle, axes.bottom + 44.0), Anchor::Middle, "label", "probes, k");
    let (x, _) = axes.at(best);
    svg.line(
        (x, axes.top),
        (x, axes.bottom),
        r##"stroke="#111827" stroke-width="1" stroke-dasharray="2 3""##,
    );
    svg.text((x, axes.top - 8.0), Anchor::Middle, "tick", &format!("best: k = {}", best.0));
    svg.path(&axes.inside(&points), &stroke(Family::Bloom, Some(Family::Bloom)));
    svg.dot(axes.at(best), color(Family::Bloom));
}

/// Names at the ends of lines, moved apart so that none covers another.
fn put_names(svg: &mut Svg, x: f64, mut names: Vec<(f64, &'static str, String)>) {
    const APART: f64 = 17.0;
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut last = f64::MIN;
    // Those that would be pushed off the picture push the ones above them up instead.
    for name in &mut names {
        name.0 = name.0.max(last + APART);
        last = name.0;
    }
    let mut limit = HEIGHT - 80.0;
    for name in names.iter_mut().rev() {
        name.0 = name.0.min(limit);
        limit = name.0 - APART;
    }
    for (y, color, name) in names {
        svg.colored((x, y + 4.0), Anchor::Start, color, &name);
    }
}
