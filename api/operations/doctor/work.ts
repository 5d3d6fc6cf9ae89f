import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { counted } from '../../../projections/engine/text.ts'
import { VERSION } from '../../version.ts'
import type { Services } from '../services.ts'
import { bad, type Finding, ok } from './finding.ts'

/** A longer usual delay of the event loop is reported, in ms: every request waits that long, several times. */
const MOST_DELAY_MS = 100
const RESOLUTION_MS = 10

/** The version of this process, and its drives. */
export function checkWork({ drivers, autoDrive, readOnly, holder }: Services): Finding[] {
  const name = holder === null ? '' : ` as ${holder}, by leases`
  const does = readOnly ? 'only reads' : autoDrive ? `drives what is due${name}` : `drives what is asked for${name}`
  return [ok('keepup', VERSION), ok('drivers', `${does}; ${counted(drivers.count, 'agent')} at work`)]
}

/** Watches the event loop until `end`. Without `end`, its timer would run on. */
export function watchLoop(): { readonly finding: () => Finding; readonly end: () => void } {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const finding = () => {
    const [usual, longest] = [delay.percentile(50), delay.max].map((ns) =>
      Math.max(0, Math.round(ns / 1e6 - RESOLUTION_MS)),
    ) as [number, number]
    const busy = Math.round(performance.eventLoopUtilization().utilization * 100)
    const found = `usual delay ${usual} ms, longest ${longest} ms during these checks; ${busy} % busy since the start`
    const todo =
      'see which runs and requests are at work ("runs list", the log of requests), and give this process more CPU'
    return usual <= MOST_DELAY_MS ? ok('event loop', found) : bad('warning', 'event loop', found, todo)
  }
  return { finding, end: () => delay.disable() }
}
