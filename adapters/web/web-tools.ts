import type { Tool, WebSearch } from '../../domain/ports/index.ts'
import { hostOfUrl } from '../../domain/secrets/hosts.ts'
import { brave } from './brave.ts'
import { type ReadUrlOptions, readUrlTool } from './read-url.ts'
import { searchWebTool } from './search-web.ts'
import { searxng } from './searxng.ts'
import type { SearchSettings, WebSettings } from './settings.ts'

/** The value of a secret by its name. Rejects with ToolError SECRET_UNAVAILABLE. */
export type SecretValue = (name: string) => Promise<string>

export const searchEngine = (settings: SearchSettings, secret: SecretValue): WebSearch =>
  settings.provider === 'searxng' ? searxng(settings.url) : brave(settings.url, () => secret(settings.key))

/** The web tools of a deployment: `read_url`, and `search_web` if a provider is configured. */
export function webTools(
  settings: WebSettings,
  secret: SecretValue,
  options: Omit<ReadUrlOptions, 'settings'> = {},
): readonly Tool[] {
  const read = readUrlTool({ ...options, settings: settings.read })
  const { search } = settings
  if (search === null) return [read]
  return [read, searchWebTool(searchEngine(search, secret), hostOfUrl(new URL(search.url)))]
}
