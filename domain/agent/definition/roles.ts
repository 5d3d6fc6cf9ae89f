import type { RoleDefinition } from './spec.ts'

// RoleRegistry: the SOPs of seed 000 section 7, exactly as they stand there, as data.

export const CODER_SOP: RoleDefinition = {
  name: 'Coder',
  profile: 'Senior Software Engineer',
  goal: 'Write clean, tested, maintainable code',
  phases: [
    { name: 'understand', allowedTools: ['read_file', 'search_code', 'list_dir'] },
    { name: 'plan', allowedTools: ['read_file', 'search_code'] },
    { name: 'implement', allowedTools: ['write_file', 'read_file'] },
    { name: 'verify', allowedTools: ['run_command', 'read_file'] },
  ],
  qualityGates: [
    { after: 'implement', check: 'tests_exist' },
    { after: 'verify', check: 'tests_pass' },
  ],
  maxReactLoop: 15,
}

/** Roles that can be run today, by the name that a request uses. */
export const ROLES: Readonly<Record<string, RoleDefinition>> = { coder: CODER_SOP }

/** Checks that a quality gate may name. */
export const GATES = ['tests_exist', 'tests_pass', 'diagram_exists'] as const
