import type { AllStreamResolvedEvent, EventStoreDBClient, ReadAllOptions, StreamingRead } from '@eventstore/db-client'
import { type Inner, innerOf, type ReadReq, streamsPb } from './client-internals.ts'

/** The number of events that the server searches before it checks whether it has found enough. */
const WINDOW = 2048

/**
 * `readAll` for the streams whose names begin with `prefix`. The server supports this filter in both directions, but
 * the client's API does not, so the filter is added to the request.
 */
export function readFiltered(
  client: EventStoreDBClient,
  prefix: string,
  options: ReadAllOptions,
): StreamingRead<AllStreamResolvedEvent> {
  const { GRPCStreamCreator } = innerOf(client)
  const creator: Inner['GRPCStreamCreator'] = (service, call, open) =>
    GRPCStreamCreator(service, call, (grpc) => open(filtering(grpc as Reads, prefix)))
  const filtered: EventStoreDBClient = Object.create(client, { GRPCStreamCreator: { value: creator } })
  return filtered.readAll(options) as StreamingRead<AllStreamResolvedEvent>
}

interface Reads {
  read(request: ReadReq, ...more: unknown[]): unknown
}

const filtering = (grpc: Reads, prefix: string): Reads => ({
  read(request, ...more) {
    const { FilterOptions } = streamsPb.ReadReq.Options
    const names = new FilterOptions.Expression()
    names.setPrefixList([prefix])
    const filter = new FilterOptions()
    filter.setStreamIdentifier(names)
    filter.setMax(WINDOW)
    filter.setCheckpointintervalmultiplier(1)
    request.getOptions()!.setFilter(filter)
    return grpc.read(request, ...more)
  },
})
