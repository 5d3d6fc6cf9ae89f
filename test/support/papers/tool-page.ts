import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { documentTools } from '../../../adapters/loro/tools/document-tools.ts'
import { WebSettings } from '../../../adapters/web/settings.ts'
import { webTools } from '../../../adapters/web/web-tools.ts'
import { workspaceTools } from '../../../adapters/workspace/tools/builtin.ts'
import { MEMORY_CONTROL_TOOLS } from '../../../domain/agent/control/memory-tools.ts'
import { controlTools, MESSAGE_TOOLS } from '../../../domain/agent/control/registry.ts'
import { CODER_SOP } from '../../../domain/agent/definition/roles.ts'
import type { ToolSpec } from '../../../domain/calls/tools/tool-spec.ts'

// node test/support/papers/tool-page.ts: regenerates the page's tool descriptions from the tools.

export const PAGE = join(import.meta.dirname, '../../../api/docs/tools.md')
const [BEGIN, END] = ['<!-- from the tools themselves -->\n', '<!-- so far -->\n']

interface Schema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

function typeText({ type, items, enum: words, properties }: Schema): string {
  if (words) return words.join(' \\| ')
  if (type === 'array') return `list of ${items ? typeText(items) : 'any'}`
  if (properties)
    return `{${Object.entries(properties)
      .map(([name, of]) => `${name}: ${typeText(of)}`)
      .join(', ')}}`
  return type ?? 'any JSON'
}

function section({ name, description, parameters, effect, timeLimitMs }: ToolSpec): string {
  const { properties = {}, required = [] } = parameters as Schema
  const rows = Object.entries(properties).map(([argument, of]) => {
    const need = required.includes(argument) ? 'required' : ''
    return `| \`${argument}\` | ${typeText(of)} | ${need} | ${of.description ?? ''} |`
  })
  return [
    `### \`${name}\``,
    '',
    description,
    '',
    `Effect \`${effect}\`; at most ${timeLimitMs / 1000} s.`,
    '',
    '| argument | type | | |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

const WEB = webTools(WebSettings.parse({ search: { provider: 'brave' } }), async () => '')

/** Only for its descriptions; nothing is executed. */
const DOCUMENTS = documentTools({} as never)

/** The generated sections of the page. */
export const toolSections = (): string =>
  [
    '## In a workspace\n',
    ...workspaceTools().map(({ spec }) => section(spec)),
    '## With the setting `web`\n',
    ...WEB.map(({ spec }) => section(spec)),
    '## In documents\n',
    ...DOCUMENTS.map(({ spec }) => section(spec)),
    '## To steer itself\n',
    ...controlTools(CODER_SOP).map(section),
    '## To remember\n',
    ...MEMORY_CONTROL_TOOLS.map(({ spec }) => section(spec)),
    '## To talk with other agents\n',
    ...MESSAGE_TOOLS.map(({ spec }) => section(spec)),
  ].join('\n')

/** The generated part of the page. */
export function writtenSections(page: string): string {
  const [, rest = ''] = page.split(BEGIN)
  return rest.split(END)[0] ?? ''
}

if (import.meta.main) {
  const page = readFileSync(PAGE, 'utf8')
  writeFileSync(PAGE, page.replace(BEGIN + writtenSections(page) + END, BEGIN + toolSections() + END))
}
