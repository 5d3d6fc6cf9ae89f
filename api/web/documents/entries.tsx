import type { DocumentEntry } from '../../operations/document/schemas.ts'
import { useKeys } from '../page/keyboard-shortcuts.ts'
import { setQuery } from '../page/router.ts'
import { clock } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'
import { VirtualList } from '../parts/virtual-list.tsx'

const ROW = 24
const TONES: Readonly<Partial<Record<DocumentEntry['kind'], string>>> = {
  created: 'end',
  applied: 'model',
  refused: 'bad',
}

/** The last revision before the next entry, that is, the document directly after this entry. */
const endOf = (entries: readonly DocumentEntry[], index: number): number =>
  (entries[index + 1]?.revision ?? Number.MAX_SAFE_INTEGER) - 1

/** All requests to a document: envelopes with their answers, and updates by people. */
export function Entries({ entries, revision }: { entries: readonly DocumentEntry[]; revision: number }) {
  const at = entries.findLastIndex((entry) => entry.revision <= revision)
  const choose = (index: number) => {
    const isLast = index >= entries.length - 1
    setQuery({ rev: isLast ? null : String(endOf(entries, Math.max(0, index))) })
  }
  const move = (by: number) => choose(at + by)
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowRight: () => move(1),
    ArrowLeft: () => move(-1),
    Home: () => move(-entries.length),
    End: () => move(entries.length),
  })
  return (
    <div class="pane">
      <VirtualList
        label="History"
        count={entries.length}
        rowHeight={ROW}
        at={at}
        row={(index) => {
          const entry = entries[index]!
          return (
            <button
              type="button"
              class={`event plain${index > at ? ' future' : ''}`}
              aria-current={index === at || undefined}
              onClick={() => choose(index)}
            >
              <span class="quiet mono">{entry.revision}</span>
              <span class={`type ${TONES[entry.kind] ?? 'person'}`}>{entry.code ?? entry.kind}</span>
              <span>
                <bdi>{shown(entry.by.id)}</bdi>
              </span>
              <span class="quiet">{clock(Date.parse(entry.at))}</span>
            </button>
          )
        }}
      />
    </div>
  )
}
