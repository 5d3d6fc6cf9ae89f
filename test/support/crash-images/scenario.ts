import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { environment, type Place } from '../faults/cli.ts'

/** The lines that a program had printed. */
export type Said = readonly string[]

/** What a program loses after an interruption, and the damage that it names itself. */
export interface Findings {
  /** Acknowledged facts that are lost, and erased ones that are back. */
  readonly lost: readonly string[]
  /** Refusals to open, and the problems that `verify` prints. */
  readonly named: readonly string[]
}

export const NOTHING: Findings = { lost: [], named: [] }

export const both = (...all: readonly Findings[]): Findings => ({
  lost: all.flatMap(({ lost }) => lost),
  named: all.flatMap(({ named }) => named),
})

/** A program that changes a folder, and how to check what it leaves if it is interrupted. */
export interface Scenario {
  readonly name: string
  /** Whether the program works in a whole data folder, which the command line can verify. */
  readonly isDataFolder: boolean
  /** Makes the folder as it is before the program starts. */
  prepare(place: Place): Promise<void>
  command(place: Place): string[]
  /** Opens what the program left. `said`: the lines that it had printed. */
  check(place: Place, said: Said): Promise<Findings>
  /** The command that the next process runs after an interruption. Null: none. */
  again(place: Place): string[] | null
}

export const nothing = () => Promise.resolve()

/** The environment of the programs of a place. The key of the vault is part of what can be lost. */
export const homeOf = (place: Place, env: Readonly<Record<string, string>> = {}) =>
  environment(place, { XDG_CONFIG_HOME: join(place.root, '.config'), ...env })

const knownFile = (place: Place): string => join(place.root, 'known.json')

/** Keeps what the preparation of a scenario knows, for processes that check it. */
export function remember(place: Place, known: unknown): void {
  writeFileSync(knownFile(place), JSON.stringify(known))
}

export const remembered = <T>(place: Place): T => JSON.parse(readFileSync(knownFile(place), 'utf8')) as T
