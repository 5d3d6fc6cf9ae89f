import { useEffect, useRef, useState } from 'preact/hooks'
import type { PlotOptions } from './plot.ts'

/** A chart of days. What it shows stands in a table too: readers of screens are led there. */
export function Chart({ title, ...options }: PlotOptions & { title: string }) {
  const box = useRef<HTMLDivElement>(null)
  const [fault, setFault] = useState('')
  useEffect(() => {
    let [over, end] = [false, () => {}]
    // The library of charts comes with the first one.
    import('./plot.ts').then(
      ({ draw }) => {
        if (!over && box.current !== null) end = draw(box.current, options)
      },
      () => setFault('The chart cannot be loaded; the table below has its figures.'),
    )
    return () => {
      over = true
      end()
    }
  }, [JSON.stringify(options)])
  return (
    <figure class="chart">
      <figcaption>
        {title}
        {options.series.map(({ label, tone }) => (
          <span key={label} class={`key ${tone}`}>
            {label}
          </span>
        ))}
      </figcaption>
      {fault !== '' && <p class="quiet">{fault}</p>}
      <div ref={box} aria-hidden="true" />
    </figure>
  )
}
