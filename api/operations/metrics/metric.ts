/** Names and values of labels. Values come from a small set: names of models, tools, roles, never ids. */
export type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number]

/** How many observations took at most each bound, their number and their sum, in seconds. */
export interface Observed {
  readonly atMost: readonly number[]
  readonly count: number
  readonly seconds: number
}

interface Named {
  readonly name: string
  readonly help: string
}

export type Metric = Named &
  (
    | { readonly type: 'gauge' | 'counter'; readonly samples: readonly Sample[] }
    | {
        readonly type: 'histogram'
        readonly bounds: readonly number[]
        readonly samples: readonly (readonly [Labels, Observed])[]
      }
  )

type Maybe = readonly [labels: Labels, value: number | null]

/** Samples without a value are left out. */
const metric = (type: 'gauge' | 'counter', name: string, help: string, samples: readonly Maybe[]): Metric => ({
  ...{ type, name: `keepup_${name}`, help },
  samples: samples.flatMap(([labels, value]) => (value === null ? [] : [[labels, value] as const])),
})
export const gauge = (name: string, help: string, samples: readonly Maybe[]) => metric('gauge', name, help, samples)
export const counter = (name: string, help: string, samples: readonly Maybe[]) => metric('counter', name, help, samples)
export const histogram = (
  name: string,
  help: string,
  bounds: readonly number[],
  samples: readonly (readonly [Labels, Observed])[],
): Metric => ({ type: 'histogram', name: `keepup_${name}`, help, bounds, samples })

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

function line(name: string, labels: Labels, value: number): string {
  const inside = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`)
  return `${name}${inside.length === 0 ? '' : `{${inside.join(',')}}`} ${value}\n`
}

/** A metric in the text format of Prometheus (0.0.4). */
export function metricText(metric: Metric): string {
  const { name, help, type } = metric
  const lines =
    metric.type === 'histogram'
      ? metric.samples.flatMap(([labels, { atMost, count, seconds }]) => [
          ...metric.bounds.map((bound, i) => line(`${name}_bucket`, { ...labels, le: `${bound}` }, atMost[i] ?? 0)),
          line(`${name}_bucket`, { ...labels, le: '+Inf' }, count),
          line(`${name}_sum`, labels, seconds),
          line(`${name}_count`, labels, count),
        ])
      : metric.samples.map(([labels, value]) => line(name, labels, value))
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

/** A metric as OTLP has it. `now`: ms since 1970. Counters and histograms are cumulative. */
export function metricOtlp(metric: Metric, now: number): object {
  const { name, help, type } = metric
  const point = (labels: Labels) => ({
    attributes: Object.entries(labels).map(([key, stringValue]) => ({ key, value: { stringValue } })),
    timeUnixNano: `${now}000000`,
  })
  const [described, cumulative] = [{ name, description: help }, { aggregationTemporality: 2 }]
  if (metric.type === 'histogram') {
    const dataPoints = metric.samples.map(([labels, { atMost, count, seconds }]) => ({
      ...point(labels),
      ...{ count: `${count}`, sum: seconds, explicitBounds: metric.bounds },
      bucketCounts: [...atMost, count].map((upTo, i) => `${upTo - (atMost[i - 1] ?? 0)}`),
    }))
    return { ...described, histogram: { ...cumulative, dataPoints } }
  }
  const dataPoints = metric.samples.map(([labels, asDouble]) => ({ ...point(labels), asDouble }))
  return type === 'gauge'
    ? { ...described, gauge: { dataPoints } }
    : { ...described, sum: { ...cumulative, isMonotonic: true, dataPoints } }
}

/** Counts observations in buckets. */
export class Histogram {
  readonly #bounds: readonly number[]
  readonly #atMost: number[]
  #count = 0
  #seconds = 0
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#atMost = bounds.map(() => 0)
  }

  add(seconds: number): void {
    this.#count += 1
    this.#seconds += seconds
    for (const [i, bound] of this.#bounds.entries()) if (seconds <= bound) this.#atMost[i]! += 1
  }

  get observed(): Observed {
    return { atMost: [...this.#atMost], count: this.#count, seconds: this.#seconds }
  }
}
