import { z } from 'zod'
import { AddressRange } from './addresses.ts'

const positive = z.int().positive()

/** The limits of `read_url`. Times in ms, sizes in bytes. */
export const ReadUrlSettings = z.strictObject({
  /** Addresses and ranges that are allowed although they are not public, such as "10.1.0.0/16". */
  allow: z.array(AddressRange).default([]),
  timeMs: positive.max(120_000).default(20_000),
  maxBytes: positive.max(64 * 2 ** 20).default(10 * 2 ** 20),
  maxRedirects: z.int().min(0).max(20).default(5),
})
export type ReadUrlSettings = z.infer<typeof ReadUrlSettings>

const httpUrl = z.url({ protocol: /^https?$/, error: 'expected http://… or https://…' })

/** The search engine of `search_web`. */
export const SearchSettings = z.discriminatedUnion('provider', [
  z.strictObject({
    provider: z.literal('searxng'),
    /** The base URL of the instance. It must offer the JSON format (`search.formats` in its settings). */
    url: httpUrl,
  }),
  z.strictObject({
    provider: z.literal('brave'),
    /** The name of the secret with the subscription token. */
    key: z.string().min(1).default('BRAVE_SEARCH_API_KEY'),
    url: httpUrl.default('https://api.search.brave.com'),
  }),
])
export type SearchSettings = z.infer<typeof SearchSettings>

/** The web tools of a deployment. Without a provider there is no `search_web`. */
export const WebSettings = z.strictObject({
  read: ReadUrlSettings.prefault({}),
  search: SearchSettings.nullable().default(null),
})
export type WebSettings = z.infer<typeof WebSettings>

/** The names of the secrets in these settings. */
export const secretsOfWeb = ({ search }: WebSettings): string[] => (search?.provider === 'brave' ? [search.key] : [])
