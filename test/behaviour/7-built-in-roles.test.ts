import { expect, test } from 'vitest'
import {
  ANALYST_SOP,
  ARCHITECT_SOP,
  CODER_SOP,
  RESEARCHER_SOP,
  REVIEWER_SOP,
  ROLES,
} from '../../domain/agent/definition/roles.ts'

test('7.1 the Coder stands as in the specification', () => {
  expect(CODER_SOP).toEqual({
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
  })
})

test('7.2 the Researcher stands as in the specification', () => {
  expect(RESEARCHER_SOP).toEqual({
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
  })
})

test('7.3 the Reviewer stands as in the specification', () => {
  expect(REVIEWER_SOP).toEqual({
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
  })
})

test('7.4 the Architect stands as in the specification', () => {
  expect(ARCHITECT_SOP).toEqual({
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
  })
})

test('the analyst has the phases and the limit of CONTRACTS 4', () => {
  const { phases, maxReactLoop, qualityGates } = ANALYST_SOP
  expect({ phases, maxReactLoop, qualityGates }).toEqual({
    phases: [
      { name: 'explore', allowedTools: ['read_file', 'search_code', 'list_dir', 'read_url'] },
      { name: 'analyze', allowedTools: ['read_file', 'search_code'] },
      { name: 'report', allowedTools: [] },
    ],
    maxReactLoop: 8,
    qualityGates: [],
  })
  expect(Object.keys(ROLES)).toEqual(['researcher', 'coder', 'reviewer', 'architect', 'analyst'])
})
