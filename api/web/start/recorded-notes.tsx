import type { StartRunInput } from '../../operations/runs/start-schemas.ts'
import { number } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'
import { Foreign } from '../parts/text.tsx'
import { type Draft, unshown } from './draft.ts'
import type { RecordedSettings } from './recorded-settings.ts'

interface RecordedNotesProps {
  readonly settings: RecordedSettings
  readonly draft: Draft
  /** The chosen kind of agent. Absent: keepup's own. */
  readonly agent: string | undefined
  /** The names of the tools that the server lists. */
  readonly listed: readonly string[]
}

/** The settings of a recorded run without a field in the form: those that the new run has too, and those it lacks. */
export function RecordedNotes({ settings: { request, lost }, draft, agent, listed }: RecordedNotesProps) {
  const isSame = request.agent === agent
  const kept = unshown(request, draft, listed)
  const missing = isSame ? lost : ['what only its kind of agent has', ...kept.map(([name]) => name), ...lost]
  return (
    <>
      {isSame && kept.length > 0 && (
        <details class="kept-settings">
          <summary>{number(kept.length)} further settings as in that run</summary>
          <dl>
            {kept.map(([name, value]) => (
              <div key={name}>
                <dt class="mono">{name}</dt>
                <dd class="mono">
                  <Foreign text={JSON.stringify(value)} most={500} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      {missing.length > 0 && (
        <label class="fault">
          <input type="checkbox" required /> Start without these settings of that run: {shown(missing.join('; '))}
        </label>
      )}
    </>
  )
}

/** Settings of a form that was not filled from a run. */
export const NO_SETTINGS: { readonly request: StartRunInput; readonly lost: readonly string[] } = {
  request: {},
  lost: [],
}
