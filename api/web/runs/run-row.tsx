import type { Run } from '../../operations/runs/schemas.ts'
import type { TextMatch } from '../../operations/search/schemas.ts'
import { countText } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'
import { linkToMatch } from '../search/link.ts'
import { Snippet } from '../search/snippet.tsx'
import { type Column, widths } from './columns.tsx'
import { askOf } from './filters.ts'
import { costText, type Group, tally } from './groups.ts'
import { StatusMark, standing } from './status-mark.tsx'

const ASKS: Readonly<Record<string, string>> = {
  approval: 'waits for an approval',
  doubt: 'waits for a decision on an unknown outcome',
  input: 'waits for an answer',
}

interface RunListItemProps {
  readonly run: Run
  readonly columns: readonly Column[]
  /** The text of an event that the search found; the item then links to that event. */
  readonly match: TextMatch | undefined
  readonly selected: boolean
  readonly chosen: boolean
  /** Inside a group, below its head. */
  readonly inside: boolean
  readonly onChoose: () => void
}

/** A run in a list. */
export function RunListItem({ run, columns, match, selected, chosen, inside, onChoose }: RunListItemProps) {
  const { runId, task, summary, error, source, ungoverned, tags } = run
  const ask = askOf(run.waiting)
  const outcome = ask !== null ? ASKS[ask] : (error?.message ?? summary ?? run.phase ?? '')
  const name = shown(task ?? '(no task yet)')
  return (
    <div class={`run-line${inside ? ' inside' : ''}`}>
      <input type="checkbox" checked={chosen} onChange={onChoose} aria-label={`Choose ${name}`} />
      <a
        class={`run-row${selected ? ' selected' : ''}`}
        href={match === undefined ? `/runs/${runId}` : linkToMatch(match)}
        aria-current={selected || undefined}
        style={{ '--columns': widths(columns) }}
      >
        <StatusMark run={run} />
        <span class="run-what">
          <span class="run-title">
            <span class="run-task">
              <bdi>{name}</bdi>
            </span>
            {source !== null && <span class="badge">fork at step {source.step}</span>}
            {ungoverned && <span class="badge">ungoverned</span>}
            {tags.map((tag) => (
              <span key={tag} class="tag">
                <bdi>{shown(tag)}</bdi>
              </span>
            ))}
          </span>
          {match === undefined ? (
            <span class={`run-outcome ${ask !== null ? 'asks' : run.error === null ? '' : standing(run)}`}>
              <bdi>{shown(outcome ?? '')}</bdi>
            </span>
          ) : (
            <Snippet match={match} />
          )}
        </span>
        {columns.map(({ name, number, show }) => (
          <span key={name} class={`run-cell ${name}${number ? ' figure' : ''}`}>
            {show(run)}
          </span>
        ))}
      </a>
    </div>
  )
}

/** The titles of the columns, and a box that chooses every run. */
export function RunHeads(props: { columns: readonly Column[]; all: boolean; onAll: () => void }) {
  return (
    <div class="run-line heads">
      <input type="checkbox" checked={props.all} onChange={props.onAll} aria-label="Choose all runs" />
      <div class="run-columns" style={{ '--columns': widths(props.columns) }}>
        <span>Status</span>
        <span>Task</span>
        {props.columns.map(({ name, title, number }) => (
          <span key={name} class={`run-cell ${name}${number ? ' figure' : ''}`}>
            {title}
          </span>
        ))}
      </div>
    </div>
  )
}

interface GroupHeadProps {
  readonly group: Group
  /** Whether all runs of the list are loaded. Otherwise the group can have further ones. */
  readonly isWhole: boolean
  readonly onToggle: () => void
}

/** The head of the runs of one task. */
export function GroupHead({ group, isWhole, onToggle }: GroupHeadProps) {
  const { task, runs, open } = group
  return (
    <button type="button" class="run-group plain" aria-expanded={open} onClick={onToggle}>
      <span aria-hidden="true">{open ? '▾' : '▸'}</span>
      <span class="run-task">
        <bdi>{shown(task)}</bdi>
      </span>
      <span class="quiet">
        {countText(runs.length, 'run')}: {tally(runs.map(standing))} · {costText(runs)}
        {isWhole ? '' : ' · of the loaded runs'}
      </span>
    </button>
  )
}
