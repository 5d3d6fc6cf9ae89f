import { useState } from 'preact/hooks'
import { take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'
import { run } from './command.ts'

/**
 * Restores the files of a step, by default the step of the page's position. The form shows the changes first and
 * applies only these.
 */
export function RestoreForm({ runId, at, onDone }: { runId: string; at: number | null; onDone: () => void }) {
  const [step, setStep] = useState<number | null>(null)
  return (
    <div class="form">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const text = String(new FormData(event.currentTarget as HTMLFormElement).get('step') ?? '')
          if (/^\d{1,9}$/.test(text)) setStep(Number(text))
        }}
      >
        <label>
          Files of step <input name="step" class="narrow" inputMode="numeric" defaultValue={at ?? ''} /> (0: as before
          the run)
        </label>
        <button type="submit">Show what would change</button>
      </form>
      {step !== null && <Preview key={step} runId={runId} step={step} onDone={onDone} />}
    </div>
  )
}

function Preview({ runId, step, onDone }: { runId: string; step: number; onDone: () => void }) {
  const param = { id: runId }
  const found = useLoaded(`${runId} ${step}`, () =>
    take(api.v1.runs[':id'].restore.$post({ param, json: { step, dryRun: true } })),
  )
  return (
    <Loaded of={found}>
      {({ changes, replaced }) =>
        changes.length === 0 ? (
          <p>The files are those of step {step}; nothing would change.</p>
        ) : (
          <>
            <ul class="files">
              {changes.map(({ path, change }) => (
                <li key={path}>
                  {change} <bdi class="mono">{shown(path)}</bdi>
                </li>
              ))}
            </ul>
            <p class="quiet">What is replaced is kept as version {replaced.slice(0, 12)}…, and can be put back.</p>
            <button
              type="button"
              class="main"
              onClick={() =>
                run(`The files of step ${step} are back.`, () =>
                  take(api.v1.runs[':id'].restore.$post({ param, json: { step, expected: replaced, by: person() } })),
                ).then((done) => done && onDone())
              }
            >
              Restore them
            </button>
          </>
        )
      }
    </Loaded>
  )
}
