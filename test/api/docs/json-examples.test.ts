import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { parseRole } from '../../../adapters/files/roles/parse-role.ts'
import { parseScript } from '../../../adapters/models/scripted/script.ts'
import { StartRun } from '../../../api/operations/runs/start-schemas.ts'
import { loadConfig } from '../../../api/process/config/settings.ts'
import { namesFor } from '../../../api/process/host/known-roles.ts'
import { AiEnvelopeRequest } from '../../../domain/document/envelope/request.ts'
import { NOTICE_TYPES } from '../../../domain/stream/notice.ts'
import { type Block, blocksIn } from '../../support/examples/blocks.ts'
import { tempFolder } from '../../support/folders.ts'
import { inProcess } from '../support/cli.ts'

// The schema that reads a document of the docs reads the example.

const settings = ({ text }: Block) => {
  const file = join(tempFolder(), 'keepup.json')
  writeFileSync(file, text, { mode: 0o600 })
  return loadConfig({ flags: { data: tempFolder(), config: file }, env: {} })
}

/** A server of another program's settings: `args` is a command line of keepup. */
const server = async (entry: { command: string; args: string[] }) => {
  expect(entry.command).toBe('keepup')
  expect((await inProcess([...entry.args, '--help'])).code).toBe(0)
}

const Notice = z.strictObject({
  ...{ id: z.uuid(), type: z.enum(NOTICE_TYPES), at: z.iso.datetime() },
  ...{ run: z.string(), agent: z.string(), title: z.string(), text: z.string(), link: z.url() },
})

/** Readers by page, and a text in the block if the page has other blocks too. */
const READERS: readonly [page: string, has: string, read: (block: Block) => unknown][] = [
  ['settings.md', '', settings],
  ['agents.md', '"roles"', settings],
  ['telemetry.md', '', settings],
  ['notices.md', '"webhooks"', settings],
  ['notices.md', '"approval_asked",', ({ text }) => Notice.parse(JSON.parse(text))],
  ['http.md', '"task"', ({ text }) => StartRun.parse(JSON.parse(text))],
  ['documents.md', '"ops_xml"', ({ text }) => AiEnvelopeRequest.parse(JSON.parse(text))],
  [
    'roles.md',
    '"qualityGates"',
    ({ text }) => parseRole(text, 'release.json', namesFor(loadConfig({ flags: { data: tempFolder() }, env: {} }), [])),
  ],
  ['scripted-models.md', '', ({ text }) => parseScript(JSON.parse(text), 'of the page')],
  ['agents.md', '"agent_servers"', ({ text }) => server(JSON.parse(text).agent_servers.keepup)],
  ['agents.md', '"mcpServers"', ({ text }) => server(JSON.parse(text).mcpServers.keepup)],
]

test.each(blocksIn('json').map((block) => [`${block.page}:${block.line}`, block] as const))(
  '%s is read',
  async (_, block) => {
    const reader = READERS.find(([page, has]) => block.page.endsWith(`/${page}`) && block.text.includes(has))
    expect(reader, 'give the block a reader').toBeDefined()
    await reader![2](block)
  },
)
