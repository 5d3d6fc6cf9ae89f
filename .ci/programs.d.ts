export interface Program {
  readonly name: string
  readonly package: string | null
  works(): boolean
}
export const PROGRAMS: readonly Program[]
export function remedyOf(program: Program): string
export function postgresPrograms(): string | undefined
