import { z } from 'zod'
import { ErrorRecoveryPolicy, Policy } from '../calls/policy-schema.ts'
import { covers } from '../calls/tools/tool-patterns.ts'
import { ToolSpec } from '../calls/tools/tool-spec.ts'
import { Milliseconds } from '../log/time-span.ts'
import { GivenSecret } from '../secrets/destinations.ts'
import { RoutingConfig } from './routing-config.ts'

// The interfaces of seed 000 section 5 under their own names, and the spec of an agent. The whole spec is recorded
// once, in `agent_started`, so that a log is self-contained.

export const WARNING =
  'Final warning: {reason}. Call complete_task now, and nothing else, with the best summary of the work so far. ' +
  'You have {graceTurns} further turns to correct a malformed call.'

/** The longest name of a context variable, in characters. Table indexes on the name limit its length. */
export const VARIABLE_NAME = 256

/** Bounds that keep the products of tokens and prices within exact nano-dollar amounts. */
const modelTokens = z.int().positive().max(100_000_000)
const price = z.int().nonnegative().max(10_000_000_000_000)

/** Seed 000, 5.2. Times in ms. */
export const RecoveryConfig = z.strictObject({
  graceTurns: z.int().nonnegative().default(2),
  graceTimeoutMs: Milliseconds.default(60_000),
  warningTemplate: z.string().min(1).default(WARNING),
  hardLimit: z.boolean().default(true),
})
export type RecoveryConfig = z.infer<typeof RecoveryConfig>

/** Seed 000, 5.11. `maxTokens` null: the model's own limit. */
export const ContextManagementConfig = z.strictObject({
  maxTokens: z.int().positive().nullable().default(null),
  compressionThreshold: z.number().gt(0).lte(1).default(0.8),
  preserveLastN: z.int().nonnegative().default(5),
  compressionStrategy: z.enum(['summarize', 'truncate', 'hybrid']).default('hybrid'),
})
export type ContextManagementConfig = z.infer<typeof ContextManagementConfig>

/** The longest text of a knowledge source in UTF-8 bytes, and the most sources of a run. */
export const KNOWLEDGE_BYTES = 65_536
export const KNOWLEDGE_SOURCES = 32

/**
 * Knowledge for agents of these roles in these phases; absent: any (seed 000, 5.11.4). `name` identifies the source.
 * `text` of a file: its content when the run was started.
 */
export const Knowledge = z.strictObject({
  kind: z.enum(['file', 'text']).default('text'),
  name: z.string().trim().min(1).max(300),
  text: z.string().min(1).max(KNOWLEDGE_BYTES),
  roles: z.array(z.string().min(1)).min(1).optional(),
  phases: z.array(z.string().min(1)).min(1).optional(),
})
export type Knowledge = z.infer<typeof Knowledge>

/** `wallClockMs` counts work time only; null: no limit. */
export const Limits = z.strictObject({
  maxTurns: z.int().positive(),
  wallClockMs: Milliseconds.nullable(),
})
export type Limits = z.infer<typeof Limits>

/** The run's own budget; null: no limit. Money in nano-dollars. */
export const Budget = z.strictObject({
  tokens: z.int().positive().nullable(),
  nanoDollars: z.int().positive().nullable(),
})
export type Budget = z.infer<typeof Budget>

/** Nano-dollars per million tokens. `asOf`: the date of the prices. */
export const Price = z.strictObject({
  asOf: z.string(),
  input: price,
  output: price,
  cacheRead: price,
  cacheWrite: price,
})
export type Price = z.infer<typeof Price>

/** A model that a run may use. `price` null: unknown, so no money budget is possible. */
export const ModelInfo = z.strictObject({
  id: z.string().min(1),
  provider: z.string().min(1),
  contextTokens: modelTokens,
  maxOutputTokens: modelTokens,
  timeoutMs: Milliseconds,
  price: Price.nullable(),
  /** Whether requests can force a tool call (`tool_choice`). */
  forcesCalls: z.boolean(),
  /** False: the model cannot call tools. */
  tools: z.boolean().optional(),
  /** True: the model reads images. */
  vision: z.boolean().optional(),
  /** The rank for the policy `quality`, the highest first; absent: 0. */
  quality: z.int().nonnegative().max(1_000_000).optional(),
})
export type ModelInfo = z.infer<typeof ModelInfo>

/** A gate of seed 000, section 7. With `argv`: a user's command that must exit with code 0 within `timeoutMs`. */
export const QualityGate = z.strictObject({
  after: z.string().min(1),
  check: z.string().min(1),
  argv: z.array(z.string().min(1)).min(1).optional(),
  timeoutMs: Milliseconds.optional(),
})
export type QualityGate = z.infer<typeof QualityGate>

/** Seed 000, section 7. */
export const RoleDefinition = z.strictObject({
  name: z.string().min(1),
  profile: z.string(),
  goal: z.string(),
  phases: z.array(z.strictObject({ name: z.string().min(1), allowedTools: z.array(z.string().min(1)) })).min(1),
  qualityGates: z.array(QualityGate),
  maxReactLoop: z.int().positive(),
  /** Commands that are safe to run again, as argv prefixes. The test command always is. */
  idempotentCommands: z.array(z.array(z.string()).min(1)).optional(),
  /** Added to the system prompt. */
  prompt: z.string().min(1).optional(),
})
export type RoleDefinition = z.infer<typeof RoleDefinition>

/** The roles that an agent may delegate to (seed 000, 5.4). */
export const DELEGABLE = ['researcher', 'coder', 'reviewer', 'analyst'] as const
export type DelegableRole = (typeof DELEGABLE)[number]

/** The limits of a run's tree in a start request. */
export const TreeLimits = z.strictObject({
  maxDepth: z.int().nonnegative().max(10).default(3),
  agents: z.int().positive().max(100).default(100),
})
export type TreeLimits = z.infer<typeof TreeLimits>

/** Rights of an external agent that need no approval per call. */
export const Rights = z.strictObject({
  /** Read files in its folder. */
  read: z.boolean(),
  /** Change files in its folder. */
  write: z.boolean(),
  commands: z.boolean(),
  /** Access files outside its folder, and the network, through the commands it runs. */
  outside: z.boolean(),
})
export type Rights = z.infer<typeof Rights>

/** The external agent that runs the children of a role, with its properties at the start of the run. */
export const RoleBackend = z.strictObject({
  kind: z.string().min(1),
  capabilities: z.array(z.string().min(1)),
  /** The ways to start it: the granted rights, and the extensions that declare them. */
  levels: z.array(z.strictObject({ grants: Rights, extensions: z.record(z.string(), z.json()) })),
  /** Its model, if the settings name one. */
  model: z.string().min(1).optional(),
  /** The price of that model. */
  price: Price.optional(),
  /** The agent can call keepup's own tools while it runs. */
  takesTools: z.literal(true).optional(),
})
export type RoleBackend = z.infer<typeof RoleBackend>

/**
 * Delegation in force. `maxDepth`: depth of the deepest agent; the root has depth 0. `agents`: the most agents in this
 * subtree, including this one. `roles`: the role definitions of children.
 */
export const Delegation = z.strictObject({
  maxDepth: z.int().nonnegative().default(3),
  agents: z.int().positive().default(100),
  roles: z.partialRecord(z.enum(DELEGABLE), RoleDefinition),
  /** Roles whose children are external agents. The policy must grant their kinds. */
  backends: z.partialRecord(z.enum(DELEGABLE), RoleBackend).optional(),
})
export type Delegation = z.infer<typeof Delegation>

/** The definition that an agent starts with: all settings in force, with defaults resolved. */
export const AgentSpec = z.strictObject({
  role: RoleDefinition.nullable(),
  policy: Policy,
  limits: Limits,
  recovery: RecoveryConfig,
  retry: ErrorRecoveryPolicy,
  context: ContextManagementConfig,
  budget: Budget,
  models: z.strictObject({
    requested: z.string().min(1),
    safeDefault: z.string().min(1),
    known: z.array(ModelInfo).min(1),
    /** Absent: the run names its model. */
    routing: RoutingConfig.optional(),
    /** Equal requests may be answered from the request cache. */
    cache: z.literal(true).optional(),
  }),
  tools: z.array(ToolSpec),
  workspace: z.strictObject({ path: z.string().min(1), tree: z.string().nullable() }).nullable(),
  testCommand: z.array(z.string()).min(1).nullable(),
  contextVariables: z.record(z.string(), z.unknown()),
  secrets: z.array(GivenSecret),
  /** Absent: the agent does not delegate. */
  delegation: Delegation.optional(),
  /** Names of tools that the agents above may use, and this one may not. Absent: the task has no such constraints. */
  withheld: z.array(z.string()).optional(),
  /** Added to the system prompt. */
  instructions: z.string().optional(),
  knowledge: z.array(Knowledge).max(KNOWLEDGE_SOURCES).optional(),
  /** The build of the program that wrote the spec. */
  build: z.string(),
})
export type AgentSpec = z.infer<typeof AgentSpec>

/** The offered tools that write files, and that policy and role do not rule out. */
export const writingTools = ({ tools, role, policy }: Pick<AgentSpec, 'tools' | 'role' | 'policy'>): string[] =>
  tools
    .filter(({ paths }) => Object.values(paths).includes('write'))
    .map(({ name }) => name)
    .filter((name) => covers(policy.allowedTools, name) && !covers(policy.deniedTools, name))
    .filter((name) => role === null || role.phases.some(({ allowedTools }) => covers(allowedTools, name)))

/** Whether a run may start commands: by a tool, or by a gate of its role. */
export const canRunCommands = ({ tools, role }: Pick<AgentSpec, 'tools' | 'role'>): boolean =>
  tools.some(({ name }) => name === 'run_command') ||
  (role?.qualityGates.some(({ argv }) => argv !== undefined) ?? false)
