import { useEffect, useRef, useState } from 'preact/hooks'
import type { PlotOptions } from './plot.ts'

/** A chart of days. A table shows the same figures for screen readers. */
export function Chart({ title, ...options }: PlotOptions & { title: string }) {
  const box = useRef<HTMLDivElement>(null)
  const [fault, setFault] = useState('')
  useEffect(() => {
    let [over, end] = [false, () => {}]
    // Load the chart library only for the first chart.
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
            <bdi>{label}</bdi>
          </span>
        ))}
      </figcaption>
      {fault !== '' && <p class="quiet">{fault}</p>}
      <div ref={box} aria-hidden="true" />
    </figure>
  )
}
