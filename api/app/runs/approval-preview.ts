import { posix } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { ApprovalRow } from '../read-model.ts'
import type { Files } from '../services.ts'
import { visible } from '../text/visible-text.ts'

/** What a person should look at before deciding. */
export interface Preview {
  readonly kind: 'diff' | 'command' | 'arguments'
  readonly text: string
}

const MAX_TEXT = 256 * 1024

type Asked = Pick<ApprovalRow, 'agentId' | 'toolName' | 'arguments'>

/**
 * The diff that `write_file` would make, the command that `run_command` would run, else the arguments. Characters that
 * cannot be seen stand in it as ‹U+200B›, because they could hide what is approved.
 */
export async function previewOf(approval: Asked, files: Pick<Files, 'current'>): Promise<Preview> {
  const { kind, text } = await preview(approval, files)
  return { kind, text: visible(text) }
}

async function preview(approval: Asked, files: Pick<Files, 'current'>): Promise<Preview> {
  const args: JsonObject = isObject(approval.arguments) ? approval.arguments : {}
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

function patchOf(path: string, before: string, after: string): string {
  if (before.length + after.length <= MAX_TEXT) {
    // The edit distance is bounded, because the search costs its square.
    const patch = createTwoFilesPatch(path, path, before, after, 'now', 'proposed', { context: 3, maxEditLength: 2000 })
    if (patch !== undefined) return patch
  }
  return `${path}: ${before.length} characters now; proposed is a wholly different text of ${after.length} characters:\n${after.slice(0, MAX_TEXT)}`
}

const isObject = (v: unknown): v is JsonObject => typeof v === 'object' && v !== null && !Array.isArray(v)
