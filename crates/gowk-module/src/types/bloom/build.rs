//! From what was asked for to an empty filter.

use super::{Bloom, Chain, Limit, NotAdded, Spec, chain::within};
use crate::types::dump::Dump;
use gowk::{
    Build, Hasher, ParamsError, Window, WindowParams, format::redisbloom::RedisBloom, window::GENERATIONS,
};

/// How the filter ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// It keeps all keys.
    Keeping,
    /// It keeps all keys, as RedisBloom lays them out.
    Compat,
    /// It remembers the last so many.
    Last { generations: u32 },
    /// It remembers the last milliseconds.
    Lasting { milliseconds: u64, generations: u32 },
}

impl Form {
    pub(crate) const DEFAULT_GENERATIONS: u32 = GENERATIONS;
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reserve {
    pub(crate) spec: Spec,
    pub(crate) form: Form,
}

impl Reserve {
    pub(crate) fn build(&self, hasher: Hasher, limit: Limit) -> Result<Bloom, NotAdded> {
        let window = |generations| {
            let params = WindowParams::for_generations(generations, self.spec.capacity, self.spec.error)
                .map_err(NotAdded::Params)?;
            within(limit, params.bits() / 8)?;
            Ok(params)
        };
        match self.form {
            Form::Keeping => Chain::new(self.spec, hasher, limit).map(Bloom::Chain),
            Form::Compat => {
                let Spec { capacity, error, expansion, .. } = self.spec;
                // An estimate that is never too low: the largest rate takes 2.9 bits, each halving 1.44 more.
                within(
                    limit,
                    (capacity as f64 * (2.9 - std::f64::consts::LOG2_E * error.log2()) / 8.0) as u64,
                )?;
                let filter = RedisBloom::reserve(error, capacity, (expansion > 0).then_some(expansion));
                filter.map(|filter| Bloom::Compat(Box::new(filter))).map_err(NotAdded::Params)
            }
            Form::Last { generations } => forgetting(Window::with_params(window(generations)?, hasher)),
            Form::Lasting { milliseconds, generations } => {
                forgetting(Window::lasting(window(generations)?, hasher, milliseconds))
            }
        }
    }
}

fn forgetting(window: Result<Window, ParamsError>) -> Result<Bloom, NotAdded> {
    window.map(|window| Bloom::Window(Box::new(window), Dump::default())).map_err(NotAdded::Params)
}
