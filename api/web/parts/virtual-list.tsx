import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import { number } from './format.ts'
import { MOST_PRINTED, printing } from './printing.ts'

type Options = VirtualizerOptions<HTMLElement, HTMLElement>

export interface VirtualListProps {
  readonly count: number
  /** The height of a row in px. With `measured`, an estimate. */
  readonly rowHeight: number
  /** True: rows have different heights, which the list measures. */
  readonly measured?: boolean
  readonly label: string
  /** The row to keep visible. The list scrolls to it when it changes. */
  readonly at?: number
  readonly row: (index: number) => ComponentChildren
  /** Called with the visible rows, to load their content. */
  readonly onRange?: (first: number, last: number) => void
}

/** A list of any length. The DOM contains only the visible rows, except while the page is printed. */
export const VirtualList = (props: VirtualListProps) =>
  printing.value ? <PrintedList {...props} /> : <ScrolledList {...props} />

function PrintedList({ count, label, row, onRange }: VirtualListProps) {
  const printed = Math.min(count, MOST_PRINTED)
  useEffect(() => onRange?.(0, printed - 1), [printed])
  return (
    <section class="virtual" aria-label={label}>
      {Array.from({ length: printed }, (_, index) => (
        <div key={index} class="printed-row">
          {row(index)}
        </div>
      ))}
      {printed < count && (
        <p class="quiet">
          Only the first {number(printed)} of {number(count)} rows are printed; an export has all.
        </p>
      )}
    </section>
  )
}

function ScrolledList({ count, rowHeight, measured = false, label, at, row, onRange }: VirtualListProps) {
  const box = useRef<HTMLElement>(null)
  const [, again] = useReducer((n: number) => n + 1, 0)
  const options: Options = {
    count,
    estimateSize: () => rowHeight,
    getScrollElement: () => box.current,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    overscan: 8,
    onChange: again,
  }
  const [list] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options))
  list.setOptions(options)
  useLayoutEffect(() => list._didMount(), [])
  useLayoutEffect(() => list._willUpdate())
  // Rows above can grow when their content loads. Keep the row visible until a person scrolls.
  const holds = useRef(true)
  const size = list.getTotalSize()
  useLayoutEffect(() => {
    holds.current = true
  }, [at])
  useLayoutEffect(() => {
    if (!holds.current || at === undefined || at < 0 || at >= count) return
    // Rows of different heights are a text: what precedes a row explains it.
    const { startIndex = 0, endIndex = -1 } = list.range ?? {}
    const isSeen = at >= startIndex && at <= endIndex
    list.scrollToIndex(at, { align: measured && !isSeen ? 'center' : 'auto' })
  }, [at, count > 0, size])
  const letGo = () => {
    holds.current = false
  }
  const rows = list.getVirtualItems()
  const [first, last] = [rows[0]?.index ?? 0, rows.at(-1)?.index ?? 0]
  useEffect(() => onRange?.(first, last), [first, last, count])
  return (
    <section
      class="virtual"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
      tabIndex={0}
      aria-label={label}
      onWheel={letGo}
      onTouchMove={letGo}
      onPointerDown={letGo}
    >
      <div class="virtual-whole" style={{ height: `${size}px` }}>
        {rows.map((item) => (
          <div
            key={item.key as number}
            class="virtual-row"
            data-index={item.index}
            ref={measured ? (element) => list.measureElement(element) : null}
            style={{ transform: `translateY(${item.start}px)`, ...(measured ? {} : { height: `${rowHeight}px` }) }}
          >
            {row(item.index)}
          </div>
        ))}
      </div>
    </section>
  )
}
