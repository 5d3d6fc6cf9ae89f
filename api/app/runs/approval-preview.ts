import { posix } from 'node:path'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { DocumentGateway } from '../../../domain/runtime/document/gateway.ts'
import type { ApprovalRow } from '../read-model.ts'
import type { Files } from '../services.ts'
import { visible } from '../text/visible-text.ts'
import { documentPreview } from './document-preview.ts'
import { patchOf } from './patch.ts'

/** The view for a person before the decision. */
export interface Preview {
  readonly kind: 'diff' | 'command' | 'arguments'
  readonly text: string
}

type Asked = Pick<ApprovalRow, 'agentId' | 'toolName' | 'arguments'>

export interface PreviewPorts {
  readonly files: Pick<Files, 'current'>
  readonly documents: Pick<DocumentGateway, 'preview'>
}

/**
 * The diff that `write_file`, `edit_document` or `create_document` would make, the command that `run_command` would run, else
 * the arguments. Characters that
 * cannot be seen stand in it as ‹U+200B›, because they could hide what is approved.
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
    const patch = patchOf(path, text ?? '', args.content)
    return { kind: 'diff', text: samePath(path, args.path) ? patch : `${args.path} leads to ${path}\n${patch}` }
  }
  if (approval.toolName === 'run_command' && typeof args.command === 'string') {
    if (typeof args.cwd !== 'string') return { kind: 'command', text: args.command }
    const { path } = await files.current(approval.agentId, args.cwd)
    const leads = samePath(path || '.', args.cwd) ? '' : `, which leads to ${path || 'the workspace itself'}`
    return { kind: 'command', text: `${args.command}\n(in ${args.cwd}${leads})` }
  }
  return { kind: 'arguments', text: JSON.stringify(approval.arguments, null, 2) }
}

const samePath = (real: string, said: string) => real === posix.normalize(said).replace(/(?<=.)\/$/, '')

const isObject = (v: unknown): v is JsonObject => typeof v === 'object' && v !== null && !Array.isArray(v)
