import { thread } from '../../domain/thread/aggregate.ts'
import { type Authorize, Threads } from '../../domain/thread/runtime/threads.ts'
import type { Services } from '../operations/services.ts'
import { listStreams } from '../operations/streams/list-streams.ts'

const PAGE = 500

/** The threads of a log, for a program that has the rights which `authorize` checks. */
export const threadsOf = (services: Services, authorize: Authorize): Threads =>
  new Threads(
    {
      ...{ log: services.log, blobs: services.blobs, streams: services.streams, random: services.random },
      async *list() {
        await services.read.caughtUp()
        let after: string | undefined
        do {
          const { streams, next } = await listStreams(services, { after, prefix: `${thread.kind}-`, limit: PAGE })
          for (const { stream } of streams) yield stream
          after = next ?? undefined
        } while (after !== undefined)
      },
    },
    authorize,
  )
