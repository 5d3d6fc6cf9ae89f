import type { UserCommand } from '../agent/commands.ts'
import { type Block, callArguments } from '../agent/content.ts'
import { CommandRejected } from '../agent/errors.ts'
import type { JsonObject } from '../log/json.ts'
import type { ModelOutcome, ToolResult } from '../ports.ts'
import type { SecretBoundary } from './ports.ts'

// Where what comes from outside becomes a command, secrets become references (CONTRACTS 3, Secrets).

type Recordable = Exclude<UserCommand, { kind: 'erase' }>

/** What a person says, without secrets. Rejects with SECRET_IN_SPEC where one stands in what must stay as it is. */
export function redactRequest(secrets: SecretBoundary, command: Recordable): Recordable {
  switch (command.kind) {
    case 'input':
      return { ...command, text: secrets.text(command.text) }
    case 'start': {
      const { spec, task } = command
      const contextVariables = secrets.json(spec.contextVariables)
      const instructions = spec.instructions === undefined ? {} : { instructions: secrets.text(spec.instructions) }
      for (const part of AS_IT_IS) {
        if (same(secrets.json({ part: spec[part] }) as never, { part: spec[part] } as never)) continue
        throw new CommandRejected(
          'SECRET_IN_SPEC',
          `${part} holds the value of a secret; give the secret by its name`,
          422,
        )
      }
      return {
        ...command,
        task: task === null ? null : secrets.text(task),
        spec: { ...spec, contextVariables, ...instructions },
      }
    }
    case 'resolve_doubt': {
      const result = command.result === undefined ? {} : { result: secrets.result(command.result) as never }
      return { ...command, ...result, ...reasonOf(secrets, command) }
    }
    case 'pause':
    case 'cancel':
    case 'decide_approval':
    case 'standing_approval':
      return { ...command, ...reasonOf(secrets, command) }
    default:
      return command
  }
}

/** Only what people write is looked into: kinds, ids and hashes are never a secret's place. */
const reasonOf = (secrets: SecretBoundary, { reason }: { reason?: string | undefined }) =>
  reason === undefined ? {} : { reason: secrets.text(reason) }

/** Parts of a spec that mean something else when a word of them is replaced. */
const AS_IT_IS = ['role', 'policy', 'models', 'tools', 'workspace', 'testCommand', 'secrets'] as const

/** A model's answer, without secrets. A thinking block is signed: one that would have to be changed is left out. */
export function redactOutcome(secrets: SecretBoundary, outcome: ModelOutcome): ModelOutcome {
  const content = outcome.content.flatMap((block) => {
    const clean = redactBlock(secrets, block)
    const signed = SIGNED.has(block.type) && JSON.stringify(clean) !== JSON.stringify(block)
    return signed ? [] : [clean]
  })
  const requestId = outcome.requestId === undefined ? {} : { requestId: secrets.text(outcome.requestId) }
  return { ...outcome, content, servedBy: secrets.text(outcome.servedBy), ...requestId }
}

const SIGNED: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking'])

function redactBlock(secrets: SecretBoundary, block: Block): Block {
  const { type, ...rest } = block
  const args = type === 'tool_use' ? callArguments(block) : null
  // The kind of a block is its meaning; everything else came from outside.
  if (args === null || typeof block.name !== 'string') return { ...secrets.json(rest), type } as Block
  const { input: _, input_text: raw, name, ...others } = rest as JsonObject & { name: string }
  const clean = secrets.arguments(name, args)
  const kept = { ...secrets.json(others), name: secrets.text(name), type }
  if (raw === undefined) return { ...kept, input: clean } as Block
  // The raw text stays as it was written unless something in it had to go.
  return { ...kept, input_text: same(clean, args) ? raw : JSON.stringify(clean) } as Block
}

const same = (a: JsonObject, b: JsonObject) => JSON.stringify(a) === JSON.stringify(b)

/** A tool's result, without secrets. */
export function redactResult(secrets: SecretBoundary, result: ToolResult): ToolResult {
  const { content, changed, created, detail } = result
  return {
    content: secrets.result(content),
    ...(changed === undefined ? {} : { changed: secrets.json(changed) }),
    ...(created === undefined ? {} : { created: secrets.json(created) }),
    ...(detail === undefined ? {} : { detail: secrets.json(detail) }),
  }
}
