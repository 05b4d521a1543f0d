//! The plan: which families do what is needed, how large they are, what their errors cost, and the curves behind it.

use crate::error::{ApiError, compute};
use axum::{Json, extract::Query};
use gowk::{
    Choice, Costs, DEFAULT_FPP, Family, Needs,
    curves::{self, Curve, information_limit},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::num::NonZeroUsize;

/// What is asked for, with the defaults of `gowk plan`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "needs are independent of each other")]
pub(crate) struct Question {
    items: u64,
    fpp: f64,
    deletes: bool,
    #[serde(rename = "static")]
    is_static: bool,
    growing: bool,
    window: bool,
    counts: bool,
    cost_check: f64,
    cost_miss: f64,
    absent: f64,
    key_bytes: u64,
}

impl Default for Question {
    fn default() -> Self {
        let costs = Costs::default();
        Self {
            items: 1_000_000,
            fpp: DEFAULT_FPP,
            deletes: false,
            is_static: false,
            growing: false,
            window: false,
            counts: false,
            cost_check: costs.check,
            cost_miss: costs.miss,
            absent: costs.absent,
            key_bytes: 16,
        }
    }
}

impl Question {
    fn needs(&self) -> Result<Needs, ApiError> {
        let when =
            |asked: bool, need: fn(Needs) -> Needs| move |needs| if asked { need(needs) } else { needs };
        Ok(Needs::new(self.items, self.fpp).map_err(ApiError::bad)?)
            .map(when(self.deletes, Needs::deletes))
            .map(when(self.is_static, Needs::is_static))
            .map(when(self.growing, Needs::grows))
            .map(when(self.window, Needs::window))
            .map(when(self.counts, Needs::counts))
    }

    fn costs(&self) -> Result<Costs, ApiError> {
        let time = |what: &str, seconds: f64| match seconds > 0.0 && seconds < 1e6 {
            true => Ok(seconds),
            false => {
                Err(ApiError::bad(format!("{what} is {seconds} s, but must be above 0 and below 1000000")))
            }
        };
        if !(0.0..=1.0).contains(&self.absent) {
            return Err(ApiError::bad(format!(
                "the share of absent keys is {}, not from 0 to 1",
                self.absent
            )));
        }
        Ok(Costs {
            check: time("the cost of a check", self.cost_check)?,
            miss: time("the cost of a miss", self.cost_miss)?,
            absent: self.absent,
        })
    }

    /// The line that builds a filter of this family.
    fn command(&self, family: Family) -> String {
        let family = family.option().unwrap_or("auto");
        format!(
            "gowk build KEYS... -o FILTER.gowk --family {family} --fpp {} --items {}",
            self.fpp, self.items
        )
    }

    /// The line that prints this plan.
    fn plan_command(&self) -> String {
        let mut line = format!("gowk plan --items {} --fpp {}", self.items, self.fpp);
        let flags = [
            (self.deletes, "--deletes"),
            (self.is_static, "--static"),
            (self.growing, "--growing"),
            (self.window, "--window"),
            (self.counts, "--counts"),
        ];
        for (_, flag) in flags.into_iter().filter(|(asked, _)| *asked) {
            line.push(' ');
            line.push_str(flag);
        }
        // As the command line reads times; ten digits of a nanosecond are more than anyone has measured.
        let time = |seconds: f64| format!("{}ns", (seconds * 1e10).round() / 10.0);
        line + &format!(
            " --cost-check {} --cost-miss {} --absent {}",
            time(self.cost_check),
            time(self.cost_miss),
            self.absent
        )
    }

    fn row(&self, choice: &Choice) -> Value {
        json!({
            "family": choice.family.name(),
            "bits_per_key": choice.bits_per_key,
            "bytes": choice.bytes,
            "lines": choice.probes,
            "fpp": choice.fpp,
            "check_seconds": choice.check_cost,
            "false_positive_seconds": choice.false_positive_cost,
            "command": self.command(choice.family),
        })
    }
}

pub(crate) async fn plan(Query(question): Query<Question>) -> Result<Json<Value>, ApiError> {
    let (needs, costs) = (question.needs()?, question.costs()?);
    compute(move || {
        let choices = needs.plan(costs);
        Ok(Json(json!({
            "items": question.items,
            "fpp": question.fpp,
            "information_limit": information_limit(question.fpp),
            "choices": choices.iter().map(|choice| question.row(choice)).collect::<Vec<_>>(),
            "reason": choices.split_first().map(|(best, others)| best.reason(others)),
            "plan_command": question.plan_command(),
        })))
    })
    .await
}

/// Points of a curve, which a picture of some hundred pixels needs no more of.
const POINTS: u32 = 40;

pub(crate) async fn curves(Query(question): Query<Question>) -> Result<Json<Value>, ApiError> {
    let Question { items, fpp, .. } = question;
    question.needs()?;
    compute(move || {
        // As `gowk plan --plot` has it: two decades on either side of what was asked for.
        let least = (fpp / 1_000.0).clamp(1e-9, 1e-5);
        let most = (fpp * 10.0).clamp(0.1, 0.5);
        let rates: Vec<f64> =
            (0..=POINTS).map(|i| least * (most / least).powf(f64::from(i) / f64::from(POINTS))).collect();
        let loads: Vec<f64> = (1..=POINTS).map(|i| 3.0 * f64::from(i) / f64::from(POINTS)).collect();
        // So few keys that sizes go in steps would make curves of steps.
        let many = items.max(10_000);
        let limit: Vec<(f64, f64)> = rates.iter().map(|rate| (*rate, information_limit(*rate))).collect();
        Ok(Json(json!({
            "items": items,
            "fpp": fpp,
            "limit": limit,
            "space": lines(&space(many, &rates)),
            "overfilled": lines(&curves::overfilled(many, fpp, &loads)),
            "probes": curves::probes(many, fpp).map_err(ApiError::bad)?,
        })))
    })
    .await
}

/// As [`curves::space`], on all cores: windows and counters take a search for each point.
fn space(items: u64, rates: &[f64]) -> Vec<Curve> {
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let parts: Vec<Vec<Curve>> = std::thread::scope(|scope| {
        let chunks = rates.chunks(rates.len().div_ceil(threads));
        let workers: Vec<_> = chunks.map(|chunk| scope.spawn(move || curves::space(items, chunk))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_default()).collect()
    });
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_default();
    for part in parts {
        all.iter_mut().zip(part).for_each(|(curve, more)| curve.points.extend(more.points));
    }
    all
}

fn lines(curves: &[Curve]) -> Vec<Value> {
    curves.iter().map(|curve| json!({"family": curve.family.name(), "points": curve.points})).collect()
}
