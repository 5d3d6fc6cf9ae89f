import { dollars } from '../../cli/output/units.ts'
import type { Run } from '../../operations/runs/schemas.ts'
import { Ago } from '../parts/ago.tsx'
import { countText, short } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'
import { askOf } from './filters.ts'
import { StatusMark } from './status-mark.tsx'

const ASKS: Readonly<Record<string, string>> = {
  approval: 'waits for an approval',
  doubt: 'waits for a decision on an unknown outcome',
  input: 'waits for an answer',
}

/** A run in a list. */
export function RunListItem({ run, selected }: { run: Run; selected: boolean }) {
  const { runId, task, summary, error, role, model, turn, updatedAt, total } = run
  const ask = askOf(run.waiting)
  const outcome = ask !== null ? ASKS[ask] : (error?.message ?? summary ?? run.phase ?? '')
  return (
    <a class={`run-row${selected ? ' selected' : ''}`} href={`/runs/${runId}`} aria-current={selected || undefined}>
      <StatusMark run={run} />
      <span class="run-what">
        <span class="run-task">
          <bdi>{shown(task ?? '(no task yet)')}</bdi>
        </span>
        <span class={`run-outcome${ask !== null ? ' asks' : ''}`}>
          <bdi>{shown(outcome ?? '')}</bdi>
        </span>
      </span>
      <span class="run-who">
        <bdi>{shown(role ?? 'no role')}</bdi>
        <span class="quiet">
          <bdi>{shown(model ?? '')}</bdi>
        </span>
      </span>
      <span class="run-figures">
        <span>{dollars(total.nanoDollars)}</span>
        <span class="quiet">{countText(turn, 'turn')}</span>
      </span>
      <span class="run-when">
        <Ago at={updatedAt} />
        <span class="quiet mono">{short(runId)}</span>
      </span>
    </a>
  )
}
