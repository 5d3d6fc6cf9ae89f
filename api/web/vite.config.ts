import { join } from 'node:path'
import { defineConfig } from 'vite'

// Builds the page to static files in `dist`, which the HTTP app serves. File names contain a content hash, so browsers
// can cache them.
export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: {
    alias: [
      { find: 'node:crypto', replacement: join(import.meta.dirname, 'pack/node-crypto.ts') },
      // The build of Loro for browsers that is loaded without holding up the page.
      { find: /^loro-crdt$/, replacement: 'loro-crdt/web' },
    ],
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // The page's Content-Security-Policy forbids inline assets.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  worker: { format: 'es' },
})
