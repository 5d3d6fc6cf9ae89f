import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Run } from '../../operations/runs/schemas.ts'
import { lastOutcome } from '../actions/command.ts'
import { CommandOutcome } from '../actions/outcome.tsx'
import { listen } from '../client/feed.ts'
import { Tour } from '../habits/tour.tsx'
import { takesEnter, useKeys } from '../page/keyboard-shortcuts.ts'
import { go, query, setQuery } from '../page/router.ts'
import { Notice } from '../page/shell.tsx'
import { useTitle } from '../page/title.ts'
import { countText, short } from '../parts/format.ts'
import { VirtualList } from '../parts/virtual-list.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { COLUMNS, ColumnsMenu, chosenColumns } from './columns.tsx'
import { FilterBar } from './filter-bar.tsx'
import { filtersIn, moveSelection } from './filters.ts'
import { byTask, type Line } from './groups.ts'
import { GroupHead, RunHeads, RunListItem } from './run-row.tsx'
import { RunsModel } from './runs-model.ts'
import { ViewsMenu } from './saved-views.tsx'

const ROW = 52
const NO_CHOICE = { of: '', ids: new Set<string>() }

/** A copy of a set with a value added, or removed if the set has it. */
function toggled(set: ReadonlySet<string>, value: string): ReadonlySet<string> {
  const changed = new Set(set)
  if (!changed.delete(value)) changed.add(value)
  return changed
}

/** All runs with live updates, those that wait for a person first. */
export function RunsScreen() {
  useTitle('Runs')
  const filters = filtersIn(query.value)
  const same = JSON.stringify(filters)
  // Compare filters by content, because each URL gives a new object.
  const model = useMemo(() => new RunsModel(filters), [same])
  useEffect(() => {
    const leave = listen({ event: () => model.changed(), connected: () => model.changed() })
    return () => {
      leave()
      model.end()
    }
  }, [model])
  const runs = model.runs.value
  const selected = query.value.get('run')
  const [openTasks, setOpenTasks] = useState<ReadonlySet<string>>(new Set())
  // Other filters show other runs, so that a choice ends with its filters.
  const [choice, setChoice] = useState<{ readonly of: string; readonly ids: ReadonlySet<string> }>(NO_CHOICE)
  const chosen = choice.of === same ? choice.ids : NO_CHOICE.ids
  const setChosen = (ids: Iterable<string>) => setChoice({ of: same, ids: new Set(ids) })
  const grouped = query.value.get('group') === 'task'
  const isOpen = (task: string, group: readonly Run[]) =>
    openTasks.has(task) || group.some(({ runId }) => runId === selected)
  const lines: readonly Line[] = grouped ? byTask(runs, isOpen) : runs.map((run) => ({ run, inside: false }))
  const ids = lines.flatMap(({ run }) => run?.runId ?? [])
  // Commands apply only to runs that the list has loaded.
  const chosenRuns = runs.filter(({ runId }) => chosen.has(runId))
  const choose = (runId: string) => setChosen(toggled(chosen, runId))
  const isAll = model.isWhole && runs.length > 0 && chosenRuns.length === runs.length
  const chooseAll = async () => {
    if (isAll) return setChosen([])
    const all = await model.all()
    if (all !== null) setChosen(all.map(({ runId }) => runId))
    else lastOutcome.value = { ok: false, text: 'Not all runs could be loaded, so none is chosen. Try again.' }
  }
  const names = chosenColumns()
  const columns = COLUMNS.filter(({ name }) => names.includes(name))
  const move = (by: number) => setQuery({ run: moveSelection(ids, selected, by) })
  const marked = query.value.get('compare')
  const mark = () => {
    if (selected === null) return false
    if (marked === null || marked === selected) setQuery({ compare: marked === null ? selected : null })
    else go(`/compare?a=${marked}&b=${selected}`)
  }
  useKeys({
    c: mark,
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: ({ target }) => (selected !== null && !takesEnter(target) ? go(`/runs/${selected}`) : false),
    x: () => (selected === null ? false : choose(selected)),
    '/': () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
  })
  const isEmpty =
    model.state.value === 'ready' && runs.length === 0 && model.damaged.value.length === 0 && model.isWhole
  return (
    <div class="screen runs">
      <Tour />
      <div class="bar">
        <h1>Runs</h1>
        <FilterBar filters={filters} />
        <span class="quiet" role="status">
          {model.state.value === 'loading'
            ? 'loading …'
            : `${countText(runs.length, 'run')}${model.isWhole ? '' : ' and more'}`}
        </span>
        <label>
          <input type="checkbox" checked={grouped} onChange={() => setQuery({ group: grouped ? null : 'task' })} /> by
          task
        </label>
        {grouped && !model.isWhole && (
          // Scrolling loads no further page while its runs only join folded groups.
          <button type="button" onClick={() => model.more()}>
            Load more
          </button>
        )}
        <ColumnsMenu />
        <ViewsMenu />
        {marked !== null && <span role="status">Choose the run to compare {short(marked)} with, and press c.</span>}
      </div>
      {model.fault.value !== '' && (
        <p class="fault" role="alert">
          {model.fault.value}
        </p>
      )}
      {model.damaged.value.map(({ runId, code, error }) => (
        <p class="fault" role="alert" key={runId}>
          <a href={`/runs/${runId}`}>{short(runId)}</a> is damaged, and not even its beginning can be read: {error} (
          {code})
        </p>
      ))}
      <CommandOutcome />
      {chosenRuns.length > 0 && <BulkActions key={same} runs={chosenRuns} onChoose={setChosen} />}
      {!isEmpty && <RunHeads columns={columns} all={isAll} onAll={chooseAll} />}
      {isEmpty ? (
        <Empty filtered={Object.keys(filters).length > 0} />
      ) : (
        <VirtualList
          label="Runs"
          count={lines.length}
          rowHeight={ROW}
          at={selected === null ? -1 : lines.findIndex(({ run }) => run?.runId === selected)}
          onRange={(_, last) => last >= lines.length - 20 && void model.more()}
          row={(index) => {
            const line = lines[index]!
            if (line.run === undefined)
              return (
                <GroupHead
                  group={line.group}
                  isWhole={model.isWhole}
                  onToggle={() => setOpenTasks(toggled(openTasks, line.group.task))}
                />
              )
            const { run, inside } = line
            return (
              <RunListItem
                {...{ run, columns, inside }}
                match={model.matches.value[run.runId]}
                selected={run.runId === selected}
                chosen={chosen.has(run.runId)}
                onChoose={() => choose(run.runId)}
              />
            )
          }}
        />
      )}
    </div>
  )
}

const Empty = ({ filtered }: { filtered: boolean }) =>
  filtered ? (
    <Notice title="No run is like this">
      <p>Take a filter away, or look for another text.</p>
      <p>
        <button type="button" class="main" onClick={() => go('/')}>
          Show all runs
        </button>
      </p>
    </Notice>
  ) : (
    <Notice title="There are no runs yet">
      <p>Each run is an agent at work on a task, or one that has ended.</p>
      <p>
        <a class="button" href="/start">
          Start a run
        </a>
      </p>
      <p>On the command line:</p>
      <pre>keepup run --role coder "Make the failing test pass"</pre>
    </Notice>
  )
