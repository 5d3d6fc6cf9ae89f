import '../node-version.ts'

// `@keepup/runtime/agents`: for authors of backends for external agents. A backend is an object that describes the start of
// a program which prints one JSON object per line, and the meaning of these lines. keepup manages the process, the limits
// and the record.
//
//   import { type CliAgent, checkAgent } from '@keepup/runtime/agents'
//
//   export const plain: CliAgent = { kind: 'plain', program: 'plain', … }
//
//   expect(await checkAgent(plain, sample)).toEqual([])     // in a test: faults by name
//   openKeepUp({ data, agents: [plain] })                   // in the program
//
// api/docs/agents.md contains a complete example.

export { z } from 'zod'
export type { CliAgent, CliEnd, CliPlan, LineMapping } from '../../adapters/agents/process/cli-agent.ts'
export { type AgentSample, backendCases, type KitCase } from '../../adapters/agents/process/kit.ts'
export type { RightsLevel } from '../../domain/external/delegation.ts'
export { AgentError, type AgentErrorCode } from '../../domain/external/errors.ts'
export type { Json, JsonObject } from '../../domain/log/json.ts'
export type * from '../../domain/ports/external.ts'
export { checkAgent } from './agent-kit/check.ts'
