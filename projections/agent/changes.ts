import { changesIn } from '../engine/changes/change.ts'
import type { SpecRow } from '../engine/schema/columns.ts'
import { factTables } from './fact-tables.ts'
import { agentTables } from './tables.ts'
import { treeTables } from './tree-tables.ts'

/** The tables of agents and of external agents. */
export const tables = { ...agentTables, ...treeTables, ...factTables } as const

export type AgentTableRow<T extends keyof typeof tables> = SpecRow<(typeof tables)[T]>

export const { put, set, remove } = changesIn<typeof tables>()
