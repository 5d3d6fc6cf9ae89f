import type { z } from 'zod'
import { take } from '../../http/answers.ts'
import type { EventPage } from '../../operations/events/schemas.ts'
import type { RunList } from '../../operations/runs/schemas.ts'
import type { StoreList, StoreSummary } from '../../operations/store/schemas.ts'
import type { StreamList } from '../../operations/streams/schemas.ts'
import type { Client } from '../client.ts'

/** A page of a list. `next`: the `after` of the next page; null on the last page. */
interface Page {
  readonly next: string | null
}

/** The query for a page of at most `limit` rows. */
export interface PageParameters {
  readonly limit: string
  readonly after?: string
}

/** The pages of a list, read on demand. */
export async function* pages<P extends Page>(
  read: (query: PageParameters) => Promise<P>,
  limit = 500,
): AsyncGenerator<P> {
  for (let after: string | null | undefined; after !== null; ) {
    const page: P = await read({ limit: String(limit), ...(after === undefined ? {} : { after }) })
    yield page
    after = page.next
  }
}

/** All runs, newest first. */
export const runPages = (client: Client) =>
  pages((query): Promise<z.infer<typeof RunList>> => take(client.v1.runs.$get({ query })))

/** All stores of context variables, in the order of their names. */
export async function* allStores(client: Client): AsyncGenerator<StoreSummary> {
  const read = (query: PageParameters): Promise<StoreList> => take(client.v1['context-stores'].$get({ query }))
  for await (const { stores } of pages(read)) yield* stores
}

/** All streams in the tables, in the order of their names. */
export async function* allStreams(client: Client): AsyncGenerator<StreamList['streams'][number]> {
  const read = (query: PageParameters): Promise<StreamList> => take(client.v1.streams.$get({ query }))
  for await (const { streams } of pages(read)) yield* streams
}

/** The matching events of a run, in the order of the log. */
export const eventPages = (client: Client, id: string, wanted: { agent?: string; type?: string; turn?: string }) =>
  pages(async (query) => {
    const answer = client.v1.runs[':id'].events.$get({ param: { id }, query: { ...query, ...wanted } })
    return (await take(answer)) as z.infer<typeof EventPage>
  })
