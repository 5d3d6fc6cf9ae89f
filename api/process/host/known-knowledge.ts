import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { KNOWLEDGE_BYTES, type Knowledge } from '../../../domain/tree/spec.ts'
import { Problem } from '../../operations/problem.ts'
import type { KnowledgeSetting } from '../config/settings.ts'

/**
 * The knowledge from the settings. Files are read at each start of a run. `folder`: the base of relative paths. Rejects
 * with KNOWLEDGE_UNUSABLE, which names the file, if a file is unreadable, not UTF-8 or too long.
 */
export const knownKnowledge = (settings: readonly KnowledgeSetting[], folder: string): Promise<Knowledge[]> =>
  Promise.all(
    settings.map(async ({ file, text, name, ...scope }) => {
      if (file === undefined) return { kind: 'text', name: name ?? 'settings', text: text ?? '', ...scope } as const
      return {
        kind: 'file',
        name: name ?? basename(file),
        text: await textOf(resolve(folder, file)),
        ...scope,
      } as const
    }),
  )

async function textOf(path: string): Promise<string> {
  const unusable = (why: string) => new Problem('KNOWLEDGE_UNUSABLE', `knowledge: ${path} ${why}`)
  const bytes = await readFile(path).catch((error: Error) => {
    throw unusable(`cannot be read: ${error.message}`)
  })
  if (bytes.length > KNOWLEDGE_BYTES)
    throw unusable(`has ${bytes.length} bytes, and a source may have ${KNOWLEDGE_BYTES}; shorten or split it`)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (text.trim() !== '') return text
  } catch {
    throw unusable('is no UTF-8 text; convert it')
  }
  throw unusable('is empty; write it, or take it out of the settings')
}
