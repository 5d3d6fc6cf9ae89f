import type { Block } from '../../calls/content.ts'
import type { RejectionCode } from '../../calls/error-codes.ts'
import { CommandRejected } from '../../calls/errors.ts'
import { readCalls } from '../../calls/requested-calls.ts'
import type { Json, JsonObject } from '../../log/json.ts'
import { wellFormed } from '../../log/well-formed.ts'
import type { ModelOutcome } from '../../ports/index.ts'
import type { SecretBoundary } from '../../ports/runtime.ts'
import { inSteps, type YieldToEventLoop } from '../../stream/runtime/yield-to-event-loop.ts'
import type { PersonCommand, UserCommand } from '../decide/commands.ts'

// Replaces secrets by references in external data before the data becomes a command.

/**
 * A person's command without secrets. Throws CommandRejected SECRET_IN_SPEC or SECRET_IN_REQUEST if a secret occurs in
 * a part that cannot be changed.
 */
export function redactRequest(secrets: SecretBoundary, command: UserCommand): UserCommand
export function redactRequest(secrets: SecretBoundary, command: PersonCommand): PersonCommand
export function redactRequest(secrets: SecretBoundary, command: PersonCommand): PersonCommand {
  switch (command.kind) {
    case 'input':
      return { ...command, text: secrets.text(command.text) }
    case 'send_message':
    case 'publish':
      refuseSecrets(secrets, { topic: command.topic })
      return { ...command, payload: secrets.json({ payload: command.payload }).payload }
    case 'start': {
      const { spec, task, approve } = command
      const { contextVariables, instructions, knowledge, ...fixed } = spec
      const { secretPatterns, ...policy } = fixed.policy
      refuseSecrets(secrets, { ...fixed, policy, approve }, 'SECRET_IN_SPEC')
      // A pattern may match its own source, which is no secret.
      if (secretPatterns.some((source) => secrets.holdsKnown(source)))
        throw new CommandRejected(
          'SECRET_IN_SPEC',
          'policy.secretPatterns holds the value of a secret; write a pattern of its shape',
        )
      const told = instructions === undefined ? {} : { instructions: secrets.text(instructions) }
      // Names identify sources, so they must not change.
      const known = knowledge?.map((one) => ({ ...one, text: secrets.text(one.text) }))
      refuseSecrets(secrets, { knowledge: knowledge?.map(({ text: _, ...one }) => one) }, 'SECRET_IN_SPEC')
      return {
        ...command,
        task: task === null ? null : secrets.text(task),
        spec: {
          ...fixed,
          contextVariables: secrets.json(contextVariables),
          ...told,
          ...(known && { knowledge: known }),
        },
      }
    }
    case 'resolve_doubt': {
      refuseSecrets(secrets, { toolCallId: command.toolCallId })
      const result = command.result === undefined ? {} : { result: secrets.result(command.result) as Json }
      return { ...command, ...result, ...reasonOf(secrets, command) }
    }
    case 'standing_approval':
      refuseSecrets(secrets, { tools: command.tools })
      return { ...command, ...reasonOf(secrets, command) }
    case 'erase':
      return { ...command, reason: secrets.text(command.reason) }
    case 'pause':
    case 'release_loss':
    case 'cancel':
    case 'restore':
    case 'decide_approval':
    case 'revoke_permission':
      return { ...command, ...reasonOf(secrets, command) }
    case 'restore_ended': {
      const { error, ...rest } = command
      if (error === undefined) return command
      return { ...rest, error: { code: secrets.text(error.code), message: secrets.text(error.message) } }
    }
    default:
      return command
  }
}

/** Only text written by people is redacted: kinds, ids and hashes never contain secrets. */
const reasonOf = (secrets: SecretBoundary, { reason }: { reason?: string | undefined }) =>
  reason === undefined ? {} : { reason: secrets.text(reason) }

/**
 * Throws CommandRejected if a part contains a secret, because a replacement would change its meaning. The message names
 * the part, never the value.
 */
export function refuseSecrets(secrets: SecretBoundary, parts: object, code: RejectionCode = 'SECRET_IN_REQUEST'): void {
  for (const [name, part] of Object.entries(parts)) {
    if (part === undefined || same(secrets.json({ part }), { part })) continue
    const said = secrets.holdsKnown(JSON.stringify(part))
      ? 'the value of a secret; give the secret by its name'
      : 'a text that counts as a secret by its shape, its key or a pattern of policy.secretPatterns; leave the text out, or narrow the pattern'
    throw new CommandRejected(code, `${name} holds ${said}`)
  }
}

/**
 * A model's answer without secrets. A signed thinking block is dropped if it would have to change. Awaits
 * `yieldToEventLoop` after each block, because an answer may be megabytes long.
 */
export async function redactOutcome(
  secrets: SecretBoundary,
  outcome: ModelOutcome,
  yieldToEventLoop: YieldToEventLoop,
): Promise<ModelOutcome> {
  const calls = await inSteps(readCalls(outcome.content), yieldToEventLoop)
  const argumentsAt = new Map(calls.map((call) => [call.block, call.arguments]))
  const content: Block[] = []
  for (const [index, block] of outcome.content.entries()) {
    const clean = redactBlock(secrets, block, argumentsAt.get(index) ?? null)
    if (!SIGNED.has(block.type) || same(clean, block)) content.push(clean)
    await yieldToEventLoop()
  }
  const requestId = outcome.requestId === undefined ? {} : { requestId: secrets.text(outcome.requestId) }
  return { ...outcome, content, servedBy: secrets.text(outcome.servedBy), ...requestId }
}

const KINDS: ReadonlySet<string> = new Set(['text', 'tool_use', 'thinking', 'redacted_thinking'])
const SIGNED: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking'])

/** `args`: the arguments of a call; null: none. */
function redactBlock(secrets: SecretBoundary, block: Block, args: JsonObject | null): Block {
  const { type: kind, ...rest } = block
  const type = KINDS.has(kind) ? kind : secrets.text(kind)
  // The members of a known kind must stay; all other members came from outside.
  if (type !== 'tool_use' || typeof block.name !== 'string') return { ...secrets.json(rest), type } as Block
  const { input, input_text: raw, name, ...others } = rest as JsonObject & { name: string }
  const kept = { ...secrets.json(others), name: secrets.text(name), type }
  if (args === null) {
    const given = input === undefined ? {} : { input: secrets.json(input) }
    return { ...kept, ...given, ...(raw === undefined ? {} : { input_text: redactRaw(secrets, raw) }) } as Block
  }
  const clean = secrets.arguments(name, args)
  if (raw === undefined) return { ...kept, input: clean } as Block
  // The raw text is kept unless it contains a secret, even in parts that parsing drops, for example digits of a number.
  const stays = same(clean, args) && redactRaw(secrets, raw) === raw
  return { ...kept, input_text: stays ? raw : JSON.stringify(clean) } as Block
}

/**
 * Redacts text that is not valid arguments. Unnecessary escapes are resolved first, because they could hide a secret.
 */
function redactRaw(secrets: SecretBoundary, raw: Json): Json {
  if (typeof raw !== 'string') return secrets.json(raw)
  const plain = withoutEscapes(raw)
  const shown = secrets.result(plain)
  if (shown !== plain) return shown
  return plain === raw ? raw : secrets.text(raw)
}

function withoutEscapes(text: string): string {
  if (!text.includes('\\u') && !text.includes('\\/')) return text
  const parts: string[] = []
  let from = 0
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at)) {
    const code = text[at + 1] === 'u' ? HEX.exec(text.slice(at + 2, at + 6)) : null
    const length = code === null ? 2 : 6
    if (code !== null || text[at + 1] === '/') {
      const meant = code === null ? '/' : String.fromCharCode(Number.parseInt(code[0], 16))
      parts.push(text.slice(from, at), JSON.stringify(meant).slice(1, -1))
      from = at + length
    }
    at += length
  }
  return parts.join('') + text.slice(from)
}

const HEX = /^[0-9a-fA-F]{4}$/

/** Equality regardless of member order. Lone surrogates, which have no canonical form, count as U+FFFD. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a === 'string' || typeof b === 'string') return wellFormed(a) === wellFormed(b)
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [ours, theirs] = [members(a), members(b)]
  return ours.size === theirs.size && ours.entries().every(([key, value]) => same(value, theirs.get(key)))
}

const members = (value: object) =>
  new Map(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [wellFormed(key), member]),
  )
