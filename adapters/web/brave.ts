import { z } from 'zod'
import type { WebSearch } from '../../domain/ports/index.ts'
import { askEngine } from './ask-engine.ts'

/** The most hits per request. */
const MAX_COUNT = 20

const Answer = z.object({
  web: z
    .object({
      results: z.array(
        z.object({
          url: z.string(),
          title: z.string().default(''),
          description: z.string().nullish(),
          page_age: z.string().nullish(),
        }),
      ),
    })
    .nullish(),
})

/**
 * The Brave Search API (https://api-dashboard.search.brave.com/app/documentation). `token` is called for each request.
 */
export function brave(url: string, token: () => Promise<string>): WebSearch {
  return {
    name: 'brave',
    async search(query, count, signal) {
      const address = new URL('/res/v1/web/search', url)
      const asked = { q: query, count: String(Math.min(count, MAX_COUNT)), text_decorations: 'false' }
      address.search = String(new URLSearchParams({ ...asked, result_filter: 'web' }))
      const { web } = await askEngine(address, { 'x-subscription-token': await token() }, Answer, signal)
      return (web?.results ?? []).slice(0, count).map(({ url, title, description, page_age }) => ({
        url,
        title,
        snippet: description ?? '',
        ...(page_age && { published: page_age }),
      }))
    },
  }
}
