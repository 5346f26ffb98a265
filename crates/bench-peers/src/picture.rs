//! The picture of the page: a bar for each operation, our time divided by the fastest peer's, on a logarithmic scale.

use crate::outcome::{Measured, Outcome};
use plotters::coord::Shift;
use plotters::prelude::{
    DrawingArea, IntoDrawingArea, IntoFont, PathElement, RGBColor, Rectangle, SVGBackend, Text, TextStyle,
};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

// Middle tones and no background: readable on white and on black.
const INK: RGBColor = RGBColor(119, 120, 123);
const FASTER: RGBColor = RGBColor(46, 140, 120);
const SLOWER: RGBColor = RGBColor(214, 110, 40);
const TARGET: RGBColor = RGBColor(160, 90, 200);

/// Powers of ten that the scale shows; a ratio beyond them is drawn at the end, and its number stands beside it.
const DECADES: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];

// Pixels. A line of its own for each operation, so that adding one moves only what stands below.
const WIDTH: u32 = 980;
const LINE: i32 = 22;
const BAR: i32 = 12;
const TOP: i32 = 46;
const LEFT: i32 = 380;
const DECADE: i32 = 90;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The picture as SVG.
///
/// # Panics
/// Never: a string takes all that is drawn.
#[must_use]
pub fn draw(measured: &Measured) -> String {
    let lines = i32::try_from(measured.outcomes.len()).unwrap_or(i32::MAX / LINE - 10);
    let height = TOP + lines * LINE + 12;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height.unsigned_abs())).into_drawing_area();
        draw_scale(&area, height - 8);
        for (outcome, y) in measured.outcomes.iter().zip((TOP..).step_by(LINE.unsigned_abs() as usize)) {
            draw_line(&area, outcome, y);
        }
        area.present().expect(DRAWN);
    }
    svg
}

fn draw_scale(area: &Area<'_>, bottom: i32) {
    let title =
        "our time divided by the peer's, logarithmic: to the left of 1 ours is faster; violet: to reach";
    write(area, title, (LEFT, 12), HPos::Left);
    for decade in DECADES {
        let x = place(decade);
        write(area, &decade.to_string(), (x, 32), HPos::Center);
        let strength = if place(1.0) == x { 1.0 } else { 0.3 };
        area.draw(&PathElement::new([(x, TOP - 6), (x, bottom)], INK.mix(strength).stroke_width(1)))
            .expect(DRAWN);
    }
}

fn draw_line(area: &Area<'_>, outcome: &Outcome, y: i32) {
    let middle = y + LINE / 2;
    write(area, outcome.operation.name, (LEFT - 12, middle), HPos::Right);
    let Some((rival, peer)) = outcome.yardstick() else {
        return;
    };
    let ratio = outcome.ratio(peer);
    let (x, one) = (place(ratio), place(1.0));
    let (top, bottom) = (middle - BAR / 2, middle + BAR / 2);
    let colour = if ratio <= 1.0 { FASTER } else { SLOWER };
    area.draw(&Rectangle::new([(x.min(one), top), (x.max(one), bottom)], colour.filled())).expect(DRAWN);
    if let Some(target) = rival.target {
        let mark = place(target);
        area.draw(&PathElement::new([(mark, top - 3), (mark, bottom + 3)], TARGET.stroke_width(3)))
            .expect(DRAWN);
    }
    let end = place(DECADES[DECADES.len() - 1]) + 12;
    write(area, &format!("{ratio:.2} of {}", rival.peer.name), (end, middle), HPos::Left);
}

fn write(area: &Area<'_>, text: &str, at: (i32, i32), side: HPos) {
    let style = TextStyle::from(("sans-serif", 16).into_font()).color(&INK).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(text, at, style)).expect(DRAWN);
}

/// Where a ratio lies, in pixels from the left.
fn place(ratio: f64) -> i32 {
    let [first, .., last] = DECADES;
    #[expect(clippy::cast_possible_truncation, reason = "at most as many pixels as the picture is wide")]
    let pixels = ((ratio.clamp(first, last) / first).log10() * f64::from(DECADE)).round() as i32;
    LEFT + pixels
}

/// Why drawing can't fail.
const DRAWN: &str = "a string takes all that is drawn";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_beyond_the_scale_stand_at_its_ends() {
        assert_eq!([0.001, 0.01, 1.0, 100.0, 1e6].map(place), [380, 380, 560, 740, 740]);
    }
}
