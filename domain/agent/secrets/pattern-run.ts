import { type Pattern, PatternError, parsePattern } from './pattern-parse.ts'
import type { Span } from './spans.ts'

type Step =
  | { readonly op: 'unit'; readonly has: (unit: number) => boolean }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'assert'; readonly at: 'start' | 'end' | 'word' | 'not_word' }
  | { readonly op: 'match' }

const MAX_STEPS = 5_000
/** A match is never longer: what makes the search linear whatever the pattern. In UTF-16 units. */
export const MAX_MATCH = 1_024

/**
 * Compiles a user's pattern to a search that is linear in the text, whatever the pattern (Pike's machine; leftmost match,
 * JavaScript's priorities, no flags). A match is at most {@link MAX_MATCH} units long. Throws {@link PatternError}.
 */
export function compilePattern(source: string): (text: string) => Span[] {
  const program: Step[] = []
  emit(parsePattern(source), program, source)
  program.push({ op: 'match' })
  const canStart = startsWith(program)
  return (text) => search(program, text, canStart)
}

/** Which units a match can begin with; most positions of a text are passed over by it. */
function startsWith(program: readonly Step[]): (unit: number) => boolean {
  const tests: ((unit: number) => boolean)[] = []
  const seen = new Set<number>()
  const stack = [0]
  while (stack.length > 0) {
    const pc = stack.pop() as number
    const step = program[pc] as Step
    if (seen.has(pc)) continue
    seen.add(pc)
    if (step.op === 'split') stack.push(step.first, step.second)
    else if (step.op === 'assert') stack.push(pc + 1)
    else if (step.op === 'unit') tests.push(step.has)
  }
  return (unit) => tests.some((has) => has(unit))
}

function emit(p: Pattern, out: Step[], source: string): void {
  if (out.length > MAX_STEPS) throw new PatternError(`pattern ${JSON.stringify(source)} is too large; repeat less`)
  switch (p.kind) {
    case 'units': {
      const ascii = new Uint8Array(128)
      const within = (unit: number) => p.units.some(([low, high]) => unit >= low && unit <= high) !== p.negated
      for (let unit = 0; unit < 128; unit++) ascii[unit] = within(unit) ? 1 : 0
      out.push({ op: 'unit', has: (unit) => (unit < 128 ? ascii[unit] === 1 : within(unit)) })
      return
    }
    case 'assert':
      out.push({ op: 'assert', at: p.at })
      return
    case 'all':
      for (const part of p.parts) emit(part, out, source)
      return
    case 'any': {
      const joints: { second: number }[] = []
      p.parts.forEach((part, index) => {
        const last = index === p.parts.length - 1
        const split = { op: 'split' as const, first: out.length + 1, second: 0 }
        if (!last) out.push(split)
        emit(part, out, source)
        if (last) return
        const jump = { op: 'split' as const, first: -1, second: -1 }
        joints.push(jump)
        out.push(jump)
        split.second = out.length
      })
      for (const jump of joints) Object.assign(jump, { first: out.length, second: out.length })
      return
    }
    case 'repeat':
      emitRepeat(p, out, source)
  }
}

function emitRepeat(p: Extract<Pattern, { kind: 'repeat' }>, out: Step[], source: string): void {
  for (let i = 0; i < p.min; i++) emit(p.of, out, source)
  const exits: { first: number; second: number }[] = []
  const enter = () => {
    const split = { op: 'split' as const, first: out.length + 1, second: out.length + 1 }
    out.push(split)
    exits.push(split)
  }
  const loop = out.length
  if (p.max === Infinity) {
    enter()
    emit(p.of, out, source)
    out.push({ op: 'split', first: loop, second: loop })
  } else {
    for (let i = p.min; i < p.max; i++) {
      enter()
      emit(p.of, out, source)
    }
  }
  for (const split of exits) {
    if (p.lazy) split.first = out.length
    else split.second = out.length
  }
}

/** Threads in order of priority: program counters, and where each began. `seen` marks a counter per position. */
interface Threads {
  readonly pcs: number[]
  readonly starts: number[]
}

function search(program: readonly Step[], text: string, canStart: (unit: number) => boolean): Span[] {
  const found: Span[] = []
  const seen = new Int32Array(program.length).fill(-1)
  let stamp = 0
  const add = (threads: Threads, from: number, start: number, i: number) => {
    const stack = [from]
    while (stack.length > 0) {
      const pc = stack.pop() as number
      if (seen[pc] === stamp) continue
      seen[pc] = stamp
      const step = program[pc] as Step
      if (step.op === 'split') stack.push(step.second, step.first)
      else if (step.op === 'assert') {
        if (holds(step.at, text, i)) stack.push(pc + 1)
      } else {
        threads.pcs.push(pc)
        threads.starts.push(start)
      }
    }
  }
  let now: Threads = { pcs: [], starts: [] }
  let best: Span | null = null
  let fresh = true
  for (let i = 0; i <= text.length; ) {
    if (now.pcs.length === 0 && i < text.length && !canStart(text.charCodeAt(i))) {
      fresh = true
      i++
      continue
    }
    if (fresh) stamp++
    fresh = true
    if (!best) add(now, 0, i, i)
    stamp++
    const next: Threads = { pcs: [], starts: [] }
    const unit = text.charCodeAt(i)
    for (let t = 0; t < now.pcs.length; t++) {
      const step = program[now.pcs[t] as number] as Step
      const start = now.starts[t] as number
      if (step.op === 'match') {
        if (i > start) best = { start, end: i }
        if (i > start) break
      } else if (step.op === 'unit' && i < text.length && i - start < MAX_MATCH && step.has(unit)) {
        add(next, (now.pcs[t] as number) + 1, start, i + 1)
      }
    }
    now = next
    fresh = false
    i++
    if (best && now.pcs.length === 0) {
      found.push(best)
      i = best.end
      best = null
      fresh = true
    }
  }
  return found
}

const isWord = (text: string, i: number) => /\w/.test(text[i] ?? '')

function holds(at: 'start' | 'end' | 'word' | 'not_word', text: string, i: number): boolean {
  if (at === 'start') return i === 0
  if (at === 'end') return i === text.length
  return (isWord(text, i - 1) !== isWord(text, i)) === (at === 'word')
}
