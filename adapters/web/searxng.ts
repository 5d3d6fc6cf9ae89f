import { z } from 'zod'
import type { WebSearch } from '../../domain/ports/index.ts'
import { askEngine } from './ask-engine.ts'

const Answer = z.object({
  results: z.array(
    z.object({
      url: z.string(),
      title: z.string().default(''),
      content: z.string().nullish(),
      publishedDate: z.string().nullish(),
    }),
  ),
})

/** A SearXNG instance (https://docs.searxng.org/dev/search_api.html). `url`: the base URL of the instance. */
export function searxng(url: string): WebSearch {
  return {
    name: 'searxng',
    async search(query, count, signal) {
      const address = new URL('search', url.endsWith('/') ? url : `${url}/`)
      address.search = String(new URLSearchParams({ q: query, format: 'json', safesearch: '1' }))
      const { results } = await askEngine(address, {}, Answer, signal)
      return results.slice(0, count).map(({ url, title, content, publishedDate }) => ({
        url,
        title,
        snippet: content ?? '',
        ...(publishedDate && { published: publishedDate }),
      }))
    },
  }
}
