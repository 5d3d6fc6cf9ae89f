import '../node-version.ts'

// `@keepup/runtime/agents`: what authors of backends for other agents need. A backend is one object that says how a program
// that prints one JSON object a line is started, and what its lines mean; keepup has its process, its limits and its record.
//
//   import { type CliAgent, checkAgent } from '@keepup/runtime/agents'
//
//   export const plain: CliAgent = { kind: 'plain', program: 'plain', … }
//
//   expect(await checkAgent(plain, sample)).toEqual([])     // in its test: faults by name
//   openKeepUp({ data, agents: [plain] })                   // in the program
//
// api/docs/agents.md has a whole one.

export { z } from 'zod'
export type { CliAgent, CliEnd, CliPlan, LineMapping } from '../../adapters/agents/process/cli-agent.ts'
export { type AgentSample, backendCases, type KitCase } from '../../adapters/agents/process/kit.ts'
export type { RightsLevel } from '../../domain/external/delegation.ts'
export { AgentError, type AgentErrorCode } from '../../domain/external/errors.ts'
export type { Json, JsonObject } from '../../domain/log/json.ts'
export type * from '../../domain/ports/external.ts'
export { checkAgent } from './agent-kit/check.ts'
