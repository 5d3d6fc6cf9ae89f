import { z } from 'zod'
import { echo } from '../../log/issues.ts'
import { Milliseconds } from '../../log/time-span.ts'
import { Limits, RoleDefinition } from '../../tree/spec.ts'
import { GATE_MS, GATES } from './roles.ts'

// A user's role as its file describes it (seed 000 section 7). Members of the seed's RoleDefinition keep their names;
// the others are optional additions.

const builtIn = z.strictObject({
  after: z.string().min(1).describe('The phase that is left only when the gate holds'),
  check: z.enum(GATES).describe('A check of keepup'),
})

/** A gate that runs a command in the workspace and passes on exit code 0. */
export const CommandGate = z.strictObject({
  after: z.string().min(1).describe('The phase that is left only when the gate holds'),
  check: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,63}$/, { error: 'expected a small letter, then small letters, digits, "_" and "-"' })
    .refine((name) => !(GATES as readonly string[]).includes(name), {
      error: `the checks ${GATES.join(', ')} take no argv; give the command another name`,
    })
    .describe('A name for the command, which events and messages use'),
  argv: z.array(z.string().min(1)).min(1).describe('Program and arguments; no shell reads them'),
  timeoutMs: Milliseconds.max(3_600_000).default(GATE_MS).describe('Time limit in ms'),
})
export type CommandGate = z.infer<typeof CommandGate>

export const RoleFile = z
  .strictObject({
    $schema: z.string().optional().describe('The address of this schema, for editors'),
    name: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,63}$/, { error: 'expected a small letter, then small letters, digits, "_" and "-"' })
      .describe('The name that a run asks for'),
    profile: z.string().min(1).max(1_000).describe('Who the agent is, such as "Senior Release Engineer"'),
    goal: z.string().min(1).max(1_000).describe('What the agent is after'),
    prompt: z.string().min(1).max(32_768).optional().describe('Added to the system prompt'),
    model: z.string().min(1).optional().describe('The model of runs that name none'),
    phases: RoleDefinition.shape.phases.describe('In order; an empty list of tools means that the model only thinks'),
    qualityGates: z
      .array(z.union([CommandGate, builtIn]))
      .default([])
      .describe('What must hold before a phase is left'),
    maxReactLoop: RoleDefinition.shape.maxReactLoop
      .max(10_000)
      .describe('Turns of a run, the last ones for recovery aside'),
    limits: z
      .strictObject({ wallClockMs: Limits.shape.wallClockMs.unwrap().optional().describe('Time at work in ms') })
      .default({})
      .describe('Limits of runs that name none'),
    idempotentCommands: RoleDefinition.shape.idempotentCommands.describe(
      'Commands that are safe to run again, as beginnings',
    ),
  })
  .describe('A role of keepup')
export type RoleFile = z.infer<typeof RoleFile>

/** The role as a run records it. Its model and limits go to the run's settings instead. */
export const definitionOf = ({ $schema: _, model: __, limits: ___, ...role }: RoleFile): RoleDefinition =>
  RoleDefinition.parse(role)

export interface KnownNames {
  /** Tools, by the names that policies use. */
  readonly tools: readonly string[]
  /** Configured MCP servers. Their tools are known only after connecting. */
  readonly servers: readonly string[]
}

/** A fault of a role: its path in the file, and the remedy. */
export interface RoleFault {
  readonly path: string
  readonly message: string
}

/** The faults of a role that its schema cannot detect; empty: none. */
export function roleFaults(role: RoleFile, known: KnownNames): RoleFault[] {
  const phases = role.phases.map(({ name }) => name)
  const faults: RoleFault[] = []
  const fault = (path: string, message: string) => faults.push({ path, message })
  for (const [index, { name, allowedTools }] of role.phases.entries()) {
    if (phases.indexOf(name) < index) fault(`phases.${index}.name`, `an earlier phase is called "${echo(name)}" too`)
    for (const [at, tool] of allowedTools.entries())
      if (!isKnown(tool, known))
        fault(`phases.${index}.allowedTools.${at}`, `there is no tool "${echo(tool)}"; tools are ${listOf(known)}`)
  }
  const gates = role.qualityGates.map(({ after, check }) => `${after}/${check}`)
  for (const [index, { after, check }] of role.qualityGates.entries()) {
    if (!phases.includes(after))
      fault(
        `qualityGates.${index}.after`,
        `there is no phase "${echo(after)}"; phases are ${phases.map(echo).join(', ')}`,
      )
    if (gates.indexOf(gates[index]!) < index)
      fault(`qualityGates.${index}.check`, `"${check}" stands after "${echo(after)}" already`)
  }
  return faults
}

function isKnown(pattern: string, { tools, servers }: KnownNames): boolean {
  if (pattern === '*' || pattern === 'file_write' || tools.includes(pattern)) return true
  const [server = '', tool] = pattern.split(':')
  if (tool === undefined || tool === '') return false
  return servers.includes(server) || (tool === '*' && tools.some((name) => name.startsWith(`${server}:`)))
}

const listOf = ({ tools, servers }: KnownNames): string =>
  [...[...tools].sort(), ...servers.map((server) => `${server}:*`)].join(', ')
