import { query, setQuery } from '../page/router.ts'
import { useTitle } from '../page/title.ts'
import { shown } from '../parts/shown.ts'
import { RunsCompared } from './runs-compared.tsx'
import { StepsCompared } from './steps-compared.tsx'

const STEP = /^[^:]+:\d+$/

/** Compares two runs or two steps. The URL names them in `a` and `b`, each a run or `<agent>:<step>`. */
export function CompareScreen() {
  useTitle('Compare')
  const [a, b] = [query.value.get('a')?.trim() ?? '', query.value.get('b')?.trim() ?? '']
  return (
    <div class="screen compare">
      <div class="bar">
        <h1>Compare</h1>
        <form
          key={`${a} ${b}`}
          class="pair"
          onSubmit={(event) => {
            event.preventDefault()
            const given = new FormData(event.currentTarget)
            const [first, second] = [String(given.get('a')).trim(), String(given.get('b')).trim()]
            setQuery({ a: first, b: second, place: null })
          }}
        >
          <input class="mono" name="a" aria-label="First" defaultValue={a} placeholder="run, or agent:step" required />
          <input class="mono" name="b" aria-label="Second" defaultValue={b} placeholder="run, or agent:step" required />
          <button type="submit">Compare</button>
          <button type="button" onClick={() => setQuery({ a: b, b: a, place: null })} disabled={a === '' || b === ''}>
            Swap
          </button>
        </form>
      </div>
      <Found a={a} b={b} />
    </div>
  )
}

function Found({ a, b }: { a: string; b: string }) {
  if (a === '' || b === '')
    return (
      <div class="notice">
        <p>
          Two runs are aligned by cause: the same turn, the same call, the same child. Two steps, written{' '}
          <code>agent:step</code>, are compared by state, messages and files.
        </p>
        <p>
          A run and its fork, or two runs of one task, are what is usually compared. A run has the button “Compare”.
        </p>
      </div>
    )
  if (STEP.test(a) !== STEP.test(b))
    return (
      <p class="fault" role="alert">
        A run cannot be compared with a step: write both as runs, or both as agent:step.
      </p>
    )
  if (!STEP.test(a)) return <RunsCompared key={`${a} ${b}`} a={a} b={b} />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <div class="pane scroll wide" tabIndex={0}>
      <h2>
        From {shown(a)} to {shown(b)}
      </h2>
      <StepsCompared a={a} b={b} />
    </div>
  )
}
