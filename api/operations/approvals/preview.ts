import { posix } from 'node:path'
import { requestPermission } from '../../../domain/agent/control/request-permission.ts'
import { namesInCommand } from '../../../domain/agent/rules/command-files.ts'
import type { SeenFile } from '../../../domain/calls/question-hash.ts'
import type { DocumentGateway } from '../../../domain/document/runtime/gateway.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { patchApart } from '../files/diff/threaded-diff.ts'
import type { ApprovalRow } from '../read-model.ts'
import type { CurrentFile, Files, NamedFile, NamedFiles } from '../services.ts'
import { condensed, unmistakable } from '../text/visible-text.ts'
import { documentPreview } from './document-preview.ts'

/** The view of a call before the decision. */
export interface Preview {
  readonly kind: 'diff' | 'command' | 'permission' | 'arguments'
  /** The content, which the agent chose. keepup's marks in it are between ‹ and ›, which content cannot contain. */
  readonly text: string
  /** keepup's sentences about the content. */
  readonly notes: readonly string[]
  /** The current files on which the decision depends. */
  readonly files: readonly SeenFile[]
}

type Asked = Pick<ApprovalRow, 'agentId' | 'toolName' | 'arguments'>
type FilePorts = Pick<Files, 'current' | 'named'>

export interface PreviewPorts {
  readonly files: FilePorts
  readonly documents: Pick<DocumentGateway, 'preview'>
}

/**
 * The preview of a call: the diff of `write_file`, `edit_document` or `create_document`, the command of `run_command`,
 * the request of `request_permission`, otherwise the arguments. Invisible characters become ‹U+200B›, and long runs of
 * blank lines or spaces their count, because they could hide a part of the content.
 */
export async function previewOf(approval: Asked, { files, documents }: PreviewPorts): Promise<Preview> {
  const { toolName } = approval
  const args = argumentsOf(approval)
  const inDocument = await documentPreview(toolName, args, documents)
  if (inDocument !== null) return shown('diff', inDocument.text, inDocument.notes)
  const basis = await basisOf(approval, files)
  if (basis?.of === 'file') {
    const { file, path, content } = basis
    const patch = await patchApart(file.path, file.text ?? '', content)
    return shown('diff', patch.text, [...faultNotes(basis), ...fileNotes(path, file), ...patch.notes], filesOf(basis))
  }
  if (basis?.of === 'command')
    return shown(
      'command',
      commandText(basis.command),
      [...faultNotes(basis), ...commandNotes(args, basis)],
      filesOf(basis),
    )
  const permission = toolName === requestPermission.spec.name ? permissionText(args) : null
  if (permission !== null) return shown('permission', unmistakable(permission))
  return shown('arguments', unmistakable(JSON.stringify(approval.arguments, null, 2)))
}

/** The sentences of a preview about the secrets that the call sends. */
export const secretNotes = ({ secrets }: Pick<ApprovalRow, 'secrets'>): string[] =>
  secrets.map(({ name, to }) => sentence(`The value of the secret ${quoted(name)} goes to: ${to}.`))

/** The current files on which the decision about a call depends. */
export const filesAskedAbout = async (approval: Asked, files: FilePorts): Promise<readonly SeenFile[]> =>
  filesOf(await basisOf(approval, files))

/** `fault`: why the workspace is unreadable. */
type Basis = { readonly fault?: string } & (
  | { readonly of: 'file'; readonly path: string; readonly content: string; readonly file: CurrentFile }
  | { readonly of: 'command'; readonly command: string; readonly folder: string; readonly named: NamedFiles }
)

/** The content of a preview that the arguments do not contain. Null: none. */
async function basisOf(approval: Asked, files: FilePorts): Promise<Basis | null> {
  try {
    return await foundBasis(approval, files)
  } catch (error) {
    // The workspace may have been removed, or be on another host.
    const { code, message } = error as { code?: unknown; message: string }
    if (!String(code).startsWith('WORKSPACE_')) throw error
    const basis = await foundBasis(approval, {
      current: async (_, path) => ({ path, content: 'unreadable', text: null, size: null }),
      named: async () => ({ files: [], more: false }),
    })
    return basis && { ...basis, fault: message }
  }
}

async function foundBasis(approval: Asked, files: FilePorts): Promise<Basis | null> {
  const { agentId, toolName } = approval
  const { path, content, command, cwd } = argumentsOf(approval)
  if (toolName === 'write_file' && typeof path === 'string' && typeof content === 'string')
    return { of: 'file', path, content, file: await files.current(agentId, path) }
  if (toolName !== 'run_command' || typeof command !== 'string') return null
  const folder = typeof cwd === 'string' ? (await files.current(agentId, cwd)).path : ''
  const { names, more } = namesInCommand(command)
  const named = await files.named(agentId, folder, names)
  return { of: 'command', command, folder, named: { ...named, more: named.more || more } }
}

const filesOf = (basis: Basis | null): readonly SeenFile[] =>
  basis === null || basis.fault !== undefined
    ? []
    : (basis.of === 'file' ? [basis.file] : basis.named.files).map(({ path, content }) => ({ path, content }))

const shown = (
  kind: Preview['kind'],
  text: string,
  notes: readonly string[] = [],
  files: readonly SeenFile[] = [],
): Preview => ({ kind, text, notes: notes.map(sentence), files })

/** A note is one line, so no name in it can imitate another note. */
const sentence = (note: string) => unmistakable(note).replaceAll('\n', '‹U+000A›')

/** A path inside a sentence. The quotes escape line breaks. */
const quoted = (path: string) => JSON.stringify(path)

const faultNotes = ({ fault }: Basis): string[] =>
  fault === undefined ? [] : [`The workspace cannot be read here, so keepup compares no file: ${fault}.`]

function fileNotes(said: string, { path, content, text, size, fault }: CurrentFile): string[] {
  const notes = samePath(path, said) ? [] : [`${quoted(said)} leads to ${quoted(path)}.`]
  if (fault !== undefined)
    return [...notes, `The file cannot be read now, so the text shows only the new content: ${fault}.`]
  if (content !== 'absent' && size !== null && text === null)
    notes.push(`The file is binary now (${size} bytes, SHA-256 ${content}). The call replaces it.`)
  return notes
}

function commandNotes({ cwd, timeoutMs }: JsonObject, { folder, named }: Extract<Basis, { of: 'command' }>): string[] {
  const notes: string[] = []
  if (typeof cwd === 'string') {
    const leads = samePath(folder || '.', cwd)
      ? ''
      : `, which leads to ${folder === '' ? 'the workspace itself' : quoted(folder)}`
    notes.push(`The command works in ${quoted(cwd)}${leads}.`)
  }
  if (typeof timeoutMs === 'number') notes.push(`The time limit is ${timeoutMs} ms.`)
  for (const file of named.files)
    notes.push(`The command names ${quoted(file.path)}, ${leads(file)} can change until then: ${state(file)}.`)
  if (named.files.length > 0)
    notes.push('If one of these files changes after your approval and before the command starts, keepup asks again.')
  if (named.more) notes.push('The command can run more files, which keepup does not compare.')
  return notes
}

const leads = ({ leadsTo }: NamedFile): string => {
  if (leadsTo === undefined) return 'which'
  return leadsTo === null ? 'which leads out of the workspace or nowhere and' : `which leads to ${quoted(leadsTo)} and`
}

const state = ({ content }: NamedFile): string =>
  content === 'unreadable' || content === 'absent' ? `it is ${content}` : `SHA-256 ${content}`

/** Show carriage returns: a shell treats them as ordinary characters, also at the end of a line. */
const commandText = (command: string): string =>
  condensed(command, (part) => part.split('\r').map(unmistakable).join('‹U+000D›'))

const FAR: Readonly<Record<string, string>> = {
  call: 'one call',
  phase: 'the rest of this phase',
  run: 'the rest of this run',
}

/** Each value gets a separate line, so no value can imitate another one. */
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

const argumentsOf = ({ arguments: args }: Asked): JsonObject =>
  typeof args === 'object' && args !== null && !Array.isArray(args) ? (args as JsonObject) : {}
