import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

// node test/simulation/main.ts [--seed N] [--seconds S | --steps N] [--shrink S] [--changed FILE]
//
// Plays simulated histories until a bound or a broken rule, and prints the result as one line of JSON. A broken rule comes
// with its shrunk story. `--changed`: JSON of `{path, text}`, sources to load instead of the tree's own.

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    seconds: { type: 'string' },
    steps: { type: 'string' },
    changed: { type: 'string' },
    shrink: { type: 'string', default: '30' },
  },
})

if (values.changed !== undefined) {
  const changed = JSON.parse(readFileSync(values.changed, 'utf8')) as { path: string; text: string }[]
  registerHooks({
    load(url, context, next) {
      const own = url.startsWith('file:') ? changed.find(({ path }) => path === fileURLToPath(url)) : undefined
      return own === undefined
        ? next(url, context)
        : { format: 'module-typescript', source: own.text, shortCircuit: true }
    },
  })
}

const { simulate } = await import('./simulate.ts')
const { shrink, storyOf } = await import('./shrink.ts')
const { failed, ...figures } = await simulate({
  seed: Number(values.seed),
  ...(values.seconds === undefined ? {} : { seconds: Number(values.seconds) }),
  ...(values.steps === undefined ? {} : { steps: Number(values.steps) }),
})
const shrunk = failed && (await shrink(failed.played, Number(values.shrink) * 1_000))
const found = failed &&
  shrunk && {
    seed: failed.seed,
    ...failed.played.violation,
    shrunkSteps: shrunk.played.steps,
    unusual: shrunk.unusual,
    choices: shrunk.choices,
    story: storyOf(shrunk.played),
  }
console.log(JSON.stringify({ ...figures, found }))
process.exit(failed === null ? 0 : 1)
