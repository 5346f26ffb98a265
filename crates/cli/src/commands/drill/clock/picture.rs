//! The rounds as a picture: a band a generator, along the time of its round; where it minted, where it didn't, where ids came twice.

use super::report::{length, outage};
use super::round::{Course, Round};
use plotters::coord::Shift;
use plotters::prelude::{
    DrawingArea, IntoDrawingArea, IntoFont, PathElement, RGBColor, Rectangle, SVGBackend, Text, TextStyle,
};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

// Middle tones and no background: readable on white and on black.
const INK: RGBColor = RGBColor(119, 120, 123);
const MINTED: RGBColor = RGBColor(46, 140, 120);
const TWICE: RGBColor = RGBColor(214, 60, 40);

// Pixels.
const WIDTH: u32 = 980;
const LEFT: i32 = 80;
const BAND: i32 = 520;
const LINE: i32 = 24;
const BAR: i32 = 14;
const HEAD: i32 = 44;
const TOP: i32 = 34;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Why drawing can't fail.
const DRAWN: &str = "a string takes all that is drawn";

/// The picture as SVG.
pub(super) fn draw(rounds: &[Round]) -> String {
    let lines: usize = rounds.iter().map(|round| round.courses.len()).sum();
    let height = |count: usize, each: i32| i32::try_from(count).unwrap_or(0) * each;
    let height = TOP + height(rounds.len(), HEAD) + height(lines, LINE) + 8;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height.unsigned_abs())).into_drawing_area();
        write(
            &area,
            "green: ids came; nothing: none did; red: ids that had come before",
            (LEFT, 14),
            HPos::Left,
        );
        let mut y = TOP;
        for round in rounds {
            y = draw_round(&area, round, y);
        }
        area.present().expect(DRAWN);
    }
    svg
}

/// Below what was drawn.
fn draw_round(area: &Area<'_>, round: &Round, top: i32) -> i32 {
    let times = round.times;
    let all = times.before + times.after;
    let x = place(times.before, all);
    let end = format!("{:.1} s", times.after as f64 / 1e9);
    write(area, &format!("clock back by {}", length(times.step)), (x, top + 14), HPos::Left);
    write(area, &end, (LEFT + BAND, top + 14), HPos::Right);
    let first = top + HEAD - 14;
    let mut y = first;
    for course in &round.courses {
        draw_course(area, course, times.before, all, y);
        y += LINE;
    }
    area.draw(&PathElement::new([(x, first - 6), (x, y)], INK.stroke_width(2))).expect(DRAWN);
    y + 14
}

fn draw_course(area: &Area<'_>, course: &Course, before: u64, all: u64, y: i32) {
    let middle = y + LINE / 2;
    write(area, course.name, (LEFT - 10, middle), HPos::Right);
    let corner = (LEFT + BAND, middle + BAR / 2);
    area.draw(&Rectangle::new([(LEFT, middle - BAR / 2), corner], INK.mix(0.15).filled())).expect(DRAWN);
    for (from, until, is_twice) in runs(course, before, all) {
        let colour = if is_twice { TWICE } else { MINTED };
        let corners = [(LEFT + from, middle - BAR / 2), (LEFT + until, middle + BAR / 2)];
        area.draw(&Rectangle::new(corners, colour.filled())).expect(DRAWN);
    }
    let twice = if course.duplicates > 0 { format!(", {} twice", course.duplicates) } else { String::new() };
    let words = format!("{} ids{twice}; none for {}", course.ids, outage(course));
    write(area, &words, (LEFT + BAND + 12, middle), HPos::Left);
}

/// Runs of pixels in which ids came, and whether some of them had come before.
fn runs(course: &Course, before: u64, all: u64) -> Vec<(i32, i32, bool)> {
    let mut pixels = vec![None; BAND.unsigned_abs() as usize];
    for call in &course.calls {
        let since = u64::try_from(call.at + before.cast_signed()).unwrap_or(0);
        let at = usize::try_from(place(since, all) - LEFT).unwrap_or(0).min(pixels.len() - 1);
        pixels[at] = Some(pixels[at].unwrap_or(false) || call.duplicates > 0);
    }
    let mut runs: Vec<(i32, i32, bool)> = Vec::new();
    for (x, pixel) in (0..).zip(pixels) {
        let Some(is_twice) = pixel else { continue };
        match runs.last_mut() {
            Some(last) if last.1 == x && last.2 == is_twice => last.1 = x + 1,
            _ => runs.push((x, x + 1, is_twice)),
        }
    }
    runs
}

/// Where a time since the beginning lies, in pixels from the left.
fn place(nanos: u64, all: u64) -> i32 {
    let share = u128::from(nanos) * u128::from(BAND.unsigned_abs()) / u128::from(all.max(1));
    LEFT + i32::try_from(share).unwrap_or(BAND).min(BAND)
}

fn write(area: &Area<'_>, text: &str, at: (i32, i32), side: HPos) {
    let style = TextStyle::from(("sans-serif", 15).into_font()).color(&INK).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(text, at, style)).expect(DRAWN);
}

#[cfg(test)]
mod tests {
    use super::super::round::{Call, Times};
    use super::*;

    fn course(at: &[(i64, u32)]) -> Course {
        let calls = at.iter().map(|&(at, duplicates)| Call { at, duplicates }).collect();
        Course { name: "x<y", ids: 3, duplicates: 1, refused: 0, outage_nanos: 5, is_back: true, calls }
    }

    #[test]
    fn runs_end_where_nothing_came_and_where_ids_came_twice() {
        // A nanosecond a pixel.
        let found = runs(&course(&[(-20, 0), (-19, 0), (-18, 1), (7, 0)]), 20, 520);
        assert_eq!(found, [(0, 2, false), (2, 3, true), (27, 28, false)]);
    }

    #[test]
    fn a_picture_is_svg_whatever_names_hold() {
        let times = Times { step: 1_000_000, before: 20, after: 500 };
        let svg = draw(&[Round { times, courses: vec![course(&[(1, 0)])] }]);
        assert!(
            svg.starts_with("<svg") && svg.contains("x&lt;y") && svg.contains("clock back by 1 ms"),
            "{svg}"
        );
    }
}
