import { useEffect, useMemo } from 'preact/hooks'
import { listen } from '../client/feed.ts'
import { useKeys } from '../page/keyboard-shortcuts.ts'
import { go, query, setQuery } from '../page/router.ts'
import { Notice } from '../page/shell.tsx'
import { useTitle } from '../page/title.ts'
import { countText, short } from '../parts/format.ts'
import { VirtualList } from '../parts/virtual-list.tsx'
import { FilterBar } from './filter-bar.tsx'
import { filtersIn, moveSelection } from './filters.ts'
import { RunListItem } from './run-row.tsx'
import { RunsModel } from './runs-model.ts'

const ROW = 52

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
  const ids = runs.map(({ runId }) => runId)
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
    Enter: (event) =>
      selected !== null && !(event.target instanceof HTMLElement && event.target.closest('a,button'))
        ? go(`/runs/${selected}`)
        : false,
    '/': () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
  })
  const isEmpty =
    model.state.value === 'ready' && runs.length === 0 && model.damaged.value.length === 0 && model.isWhole
  return (
    <div class="screen runs">
      <div class="bar">
        <h1>Runs</h1>
        <FilterBar filters={filters} />
        <span class="quiet" role="status">
          {model.state.value === 'loading'
            ? 'loading …'
            : `${countText(runs.length, 'run')}${model.isWhole ? '' : ' and more'}`}
        </span>
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
      {isEmpty ? (
        <Empty filtered={Object.keys(filters).length > 0} />
      ) : (
        <VirtualList
          label="Runs"
          count={runs.length}
          rowHeight={ROW}
          at={selected === null ? -1 : ids.indexOf(selected)}
          onRange={(_, last) => last >= runs.length - 20 && void model.more()}
          row={(index) => {
            const run = runs[index]!
            return <RunListItem run={run} selected={run.runId === selected} />
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
    </Notice>
  ) : (
    <Notice title="There are no runs yet">
      <p>
        <a href="/start">Start one here</a>, or on the command line:
      </p>
      <pre>keepup run --role coder "Make the failing test pass"</pre>
    </Notice>
  )
