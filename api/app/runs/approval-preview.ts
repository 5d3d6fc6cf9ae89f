import { posix } from 'node:path'
import { requestPermission } from '../../../domain/agent/control/request-permission.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { DocumentGateway } from '../../../domain/runtime/document/gateway.ts'
import type { ApprovalRow } from '../read-model.ts'
import type { Files } from '../services.ts'
import { visible } from '../text/visible-text.ts'
import { patchApart } from '../text-diff/apart.ts'
import { documentPreview } from './document-preview.ts'

/** The view for a person before the decision. */
export interface Preview {
  readonly kind: 'diff' | 'command' | 'permission' | 'arguments'
  readonly text: string
}

type Asked = Pick<ApprovalRow, 'agentId' | 'toolName' | 'arguments'>

export interface PreviewPorts {
  readonly files: Pick<Files, 'current'>
  readonly documents: Pick<DocumentGateway, 'preview'>
}

/**
 * The diff that `write_file`, `edit_document` or `create_document` would make, the command that `run_command` would run, what
 * `request_permission` asks for, else the arguments. Characters that cannot be seen stand in it as ‹U+200B›, because they could hide what is approved.
 */
export async function previewOf(approval: Asked, at: PreviewPorts): Promise<Preview> {
  const { kind, text } = await preview(approval, at)
  return { kind, text: visible(text) }
}

async function preview(approval: Asked, { files, documents }: PreviewPorts): Promise<Preview> {
  const args: JsonObject = isObject(approval.arguments) ? approval.arguments : {}
  const inDocument = await documentPreview(approval.toolName, args, documents)
  if (inDocument !== null) return { kind: 'diff', text: inDocument }
  if (approval.toolName === 'write_file' && typeof args.path === 'string' && typeof args.content === 'string') {
    const { path, text } = await files.current(approval.agentId, args.path)
    const patch = await patchApart(path, text ?? '', args.content)
    return { kind: 'diff', text: samePath(path, args.path) ? patch : `${args.path} leads to ${path}\n${patch}` }
  }
  if (approval.toolName === 'run_command' && typeof args.command === 'string') {
    if (typeof args.cwd !== 'string') return { kind: 'command', text: args.command }
    const { path } = await files.current(approval.agentId, args.cwd)
    const leads = samePath(path || '.', args.cwd) ? '' : `, which leads to ${path || 'the workspace itself'}`
    return { kind: 'command', text: `${args.command}\n(in ${args.cwd}${leads})` }
  }
  const permission = approval.toolName === requestPermission.spec.name ? permissionText(args) : null
  if (permission !== null) return { kind: 'permission', text: permission }
  return { kind: 'arguments', text: JSON.stringify(approval.arguments, null, 2) }
}

const FAR: Readonly<Record<string, string>> = {
  call: 'one call',
  phase: 'the rest of this phase',
  run: 'the rest of this run',
}

/** Each value on a line of its own, so that none can pass for another one. */
function permissionText({ tool, scope, until, reason }: JsonObject): string | null {
  if (![tool, scope, until, reason].every((value) => typeof value === 'string')) return null
  const line = (value: unknown) => String(value).replace(/\s+/g, ' ').trim()
  const span = /^\d+[a-z]+$/i.test(line(until)) ? ' after the decision' : ''
  return [
    `tool    ${line(tool)}`,
    `for     ${FAR[String(scope)] ?? line(scope)}`,
    `until   ${line(until)}${span}`,
    `reason  ${line(reason)}`,
  ].join('\n')
}

const samePath = (real: string, said: string) => real === posix.normalize(said).replace(/(?<=.)\/$/, '')

const isObject = (v: unknown): v is JsonObject => typeof v === 'object' && v !== null && !Array.isArray(v)
