import type { RoleDefinition } from '../../tree/spec.ts'

// RoleRegistry: the SOPs of seed 000 section 7, unchanged, as data.

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

export const RESEARCHER_SOP: RoleDefinition = {
  name: 'Researcher',
  profile: 'Technical Researcher',
  goal: 'Find accurate information and synthesize insights',
  phases: [
    { name: 'explore', allowedTools: ['search_web', 'read_url', 'search_code'] },
    { name: 'analyze', allowedTools: ['read_file', 'search_code'] },
    { name: 'synthesize', allowedTools: [] },
  ],
  qualityGates: [],
  maxReactLoop: 10,
}

export const REVIEWER_SOP: RoleDefinition = {
  name: 'Reviewer',
  profile: 'Code Review Specialist',
  goal: 'Identify bugs, security issues, and improvement opportunities',
  phases: [
    { name: 'explore', allowedTools: ['read_file', 'search_code', 'list_dir'] },
    { name: 'analyze', allowedTools: ['read_file', 'search_code'] },
    { name: 'report', allowedTools: [] },
  ],
  qualityGates: [],
  maxReactLoop: 8,
}

export const ARCHITECT_SOP: RoleDefinition = {
  name: 'Architect',
  profile: 'System Design Expert',
  goal: 'Design scalable, maintainable system architectures',
  phases: [
    { name: 'understand', allowedTools: ['read_file', 'search_code', 'list_dir', 'read_url'] },
    { name: 'design', allowedTools: ['search_web', 'read_url'] },
    { name: 'document', allowedTools: ['write_file'] },
  ],
  qualityGates: [{ after: 'design', check: 'diagram_exists' }],
  maxReactLoop: 12,
}

/** Seed 000 gives only the name; phases and limit are our choice. */
export const ANALYST_SOP: RoleDefinition = {
  name: 'Analyst',
  profile: 'Technical Analyst',
  goal: 'Analyze the given material and report well-founded findings',
  phases: [
    { name: 'explore', allowedTools: ['read_file', 'search_code', 'list_dir', 'read_url'] },
    { name: 'analyze', allowedTools: ['read_file', 'search_code'] },
    { name: 'report', allowedTools: [] },
  ],
  qualityGates: [],
  maxReactLoop: 8,
}

// The seed's SOPs do not mention documents. Each role may read documents in the phase that gathers material. The
// reviewer may also comment and suggest changes. Only the architect may write documents, in the phase `document`.
const READ_DOCUMENTS = ['list_documents', 'read_document', 'list_comments']
const DISCUSS_DOCUMENTS = [...READ_DOCUMENTS, 'comment_document', 'suggest_change']
const WRITE_DOCUMENTS = [...DISCUSS_DOCUMENTS, 'create_document', 'edit_document']

const withTools = (role: RoleDefinition, more: Readonly<Record<string, readonly string[]>>): RoleDefinition => ({
  ...role,
  phases: role.phases.map((phase) => ({
    ...phase,
    allowedTools: [...phase.allowedTools, ...(more[phase.name] ?? [])],
  })),
})

/** The built-in roles by the name that a request uses: the SOPs plus tools for documents. */
export const ROLES: Readonly<Record<string, RoleDefinition>> = {
  researcher: withTools(RESEARCHER_SOP, { analyze: READ_DOCUMENTS }),
  coder: withTools(CODER_SOP, { understand: READ_DOCUMENTS }),
  reviewer: withTools(REVIEWER_SOP, { explore: DISCUSS_DOCUMENTS }),
  architect: withTools(ARCHITECT_SOP, { understand: READ_DOCUMENTS, document: WRITE_DOCUMENTS }),
  analyst: withTools(ANALYST_SOP, { explore: READ_DOCUMENTS }),
}

export const GATES = ['tests_exist', 'tests_pass', 'diagram_exists'] as const

/** The default time limit of a gate's command, in ms. */
export const GATE_MS = 600_000
