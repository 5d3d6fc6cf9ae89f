import { join } from 'node:path'
import { API, type Symbol as Name, SymbolFlags } from 'typescript/unstable/sync'
import { expect, test } from 'vitest'
import own from '../../../package.json' with { type: 'json' }

// Every name that the entry points export says what it is: editors show this text.

const root = join(import.meta.dirname, '../../..')
const entries = Object.entries(own.exports).filter(([, file]) => file.endsWith('.ts'))

test('every exported name of the entry points has a docstring', { timeout: 240_000 }, () => {
  const api = new API()
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects()
    const { program, checker } = project!
    const missing = entries.flatMap(([entry, file]) => {
      const source = program.getSourceFile(join(root, file))!
      const names = checker.getExportsOfModule(checker.getSymbolAtLocation(source)!)
      expect(names.length).toBeGreaterThan(0)
      return names.flatMap((name) => {
        // `z` is zod's.
        if (name.name === 'z') return []
        const meant: Name = name.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name
        return checker.getDocumentationCommentOfSymbol(meant).trim() === '' ? [`${entry} ${name.name}`] : []
      })
    })
    expect(missing).toEqual([])
  } finally {
    api.close()
  }
})
