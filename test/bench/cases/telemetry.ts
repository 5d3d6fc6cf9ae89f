import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { spanBatches } from '../../../api/operations/telemetry/otlp-traces.ts'
import { spansOfRun } from '../../../api/operations/telemetry/run-spans.ts'
import { paths } from '../../../api/process/host/paths.ts'
import type { Span } from '../../../domain/calls/telemetry.ts'
import type { Bench, Case } from '../bench.ts'
import { type Figure, least, rate } from '../figure.ts'
import { median, timed } from '../measure.ts'

// How fast the spans of a long run are derived from its log and written as OTLP. Floor: reading the log.

const GOAL = 20_000

export const telemetry: Case = {
  name: 'telemetry',
  async run(bench: Bench): Promise<Figure[]> {
    const { data, agentId } = await bench.long()
    const log = await openSqliteLog({ folder: paths(data).log, mode: 'reader' })
    const blobs = new FileBlobs(paths(data).blobs)
    let spans = 0
    const counted = async function* (pages: AsyncIterable<readonly Span[]>) {
      for await (const page of pages) {
        spans += page.length
        yield page
      }
    }
    const derive = (content: boolean) => async () => {
      spans = 0
      for await (const _ of spanBatches(
        log.logId,
        counted(spansOfRun({ log, blobs }, agentId, { content, adopt: false })),
      ));
    }
    const read = async () => {
      for await (const _ of log.read(`agent-${agentId}`));
    }
    const cpu = async (work: () => Promise<void>) => {
      const all: number[] = []
      for (let round = 0; round <= bench.rounds; round++) {
        const { cpuMs } = await timed(work)
        if (round > 0) all.push(cpuMs)
      }
      return median(all)
    }
    const floor = await cpu(read)
    const figures: Figure[] = []
    for (const content of [false, true]) {
      const cpuMs = await cpu(derive(content))
      const value = (1_000 * spans) / cpuMs
      figures.push({
        name: `spans of a run as OTLP${content ? ', with content' : ''}`,
        ours: rate(value, 'spans'),
        floor: rate((1_000 * spans) / floor, 'spans'),
        value,
        goal: least(GOAL, ' spans/s'),
        note: 'per CPU second; floor: reading the events',
      })
    }
    await log.close()
    return figures
  },
}
