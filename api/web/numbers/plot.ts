import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { axisDay } from '../parts/format.ts'

/** A line or the bars of a chart. `tone`: a colour of the page's style. */
export interface Series {
  readonly label: string
  readonly tone: string
  readonly values: readonly (number | null)[]
  readonly bars?: boolean
}

export interface PlotOptions {
  /** Seconds since the epoch. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  /** Formats a value of the vertical axis. */
  readonly format: (value: number) => string
}

const HEIGHT = 150
/** The space left and right of the days, in s. */
const MARGIN = 0.7 * 86_400
/** The most days with a label below a chart, and the width of a label in px. */
const NAMED = 8
const LABEL = 60

/** The days with a label in a chart of this width, the last day among them. */
const every = (times: readonly number[], width: number): number[] => {
  const most = Math.max(2, Math.min(NAMED, Math.floor(width / LABEL)))
  return times.filter((_, i) => (times.length - 1 - i) % Math.ceil(times.length / most) === 0)
}

/**
 * Draws a chart in the width of the box, and redraws it when the width or the theme changes. Returns a function that
 * removes the chart.
 */
export function draw(box: HTMLElement, { times, series, format }: PlotOptions): () => void {
  const colour = (name: string) => getComputedStyle(box).getPropertyValue(`--chart-${name}`).trim()
  let plot: uPlot | null = null
  const make = () => {
    plot?.destroy()
    const [text, grid] = [colour('text'), colour('grid')]
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } }
    plot = new uPlot(
      {
        width: Math.max(200, box.clientWidth),
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: () => [(times[0] ?? 0) - MARGIN, (times.at(-1) ?? 0) + MARGIN] },
          y: { range: (_, __, most) => [0, most > 0 ? 1.1 * most : 1] },
        },
        axes: [
          { ...axis, size: 30, splits: ({ width }) => every(times, width), values: (_, splits) => splits.map(axisDay) },
          { ...axis, size: 64, values: (_, splits) => splits.map(format) },
        ],
        series: [
          {},
          ...series.map(({ label, tone, bars }) => ({
            label,
            stroke: colour(tone),
            width: 1.5,
            ...(bars ? { fill: colour(tone), paths: uPlot.paths.bars!({ size: [0.6, 40], align: 0 }) } : {}),
            points: { show: !bars },
          })),
        ],
      },
      [times, ...series.map(({ values }) => values)] as uPlot.AlignedData,
      box,
    )
  }
  make()
  const sizes = new ResizeObserver(() => plot?.setSize({ width: Math.max(200, box.clientWidth), height: HEIGHT }))
  sizes.observe(box)
  const themes = new MutationObserver(make)
  themes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  const system = matchMedia('(prefers-color-scheme: dark)')
  system.addEventListener('change', make)
  return () => {
    sizes.disconnect()
    themes.disconnect()
    system.removeEventListener('change', make)
    plot?.destroy()
  }
}
