import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'

// Preloaded, it has the rooms of the product come from `dist`, as the package has them: what is measured is what is run.

const ROOT = new URL('../../', import.meta.url).href
const DIST = new URL('dist/', ROOT).href
const OF_THE_PRODUCT = /^(?:domain|adapters|projections|api)\/.*\.ts$/

if (!existsSync(new URL('package.json', DIST))) throw new Error('there is no compiled package; make it: npm run pack')

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const path = found.url.startsWith(ROOT) ? found.url.slice(ROOT.length) : ''
    if (!OF_THE_PRODUCT.test(path)) return found
    return { ...found, url: DIST + path.replace(/ts$/, 'js'), format: 'module' }
  },
})
