"""The style sheet of a page: light and dark, wide and narrow, on a screen and on paper."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark; --page: #fff; --text: #1b1f24; --soft: #57606a;
  --line: #d5dae0; --box: #f6f8fa; --good: #1a7f37; --bad: #b42318; --link: #0550ae;
  --blue: #0072B2; --red: #D55E00;
  --kept: var(--blue); --merged: #E69F00; --changed: var(--red); --rest: #7f7f7f; }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #14171a; --text: #e6e9ec; --soft: #a2abb4; --line: #3a4149; --box: #1d2126;
    --good: #2da44e; --bad: #f0655a; --link: #79b8ff; --blue: #56B4E9; --rest: #9a9a9a; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .6rem; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 2.4rem 0 .6rem; padding-top: .7rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p { margin: .5rem 0; max-width: 48rem; }
ul { max-width: 48rem; padding-left: 1.2rem; }
li { margin: .4rem 0; }
.badge { display: inline-block; color: #fff; border-radius: .3rem; padding: .05rem .5rem;
  font-weight: 600; white-space: nowrap; background: #1a7f37; }
.badge.bad { background: #b42318; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: .7rem;
  margin: 1.1rem 0; }
.card { background: var(--box); border: 1px solid var(--line); border-radius: .5rem;
  padding: .6rem .8rem; min-width: 0; }
.card .what { color: var(--soft); font-size: .85rem; }
.card .value { font-size: 1.25rem; font-weight: 600; line-height: 1.3; }
.card .note { color: var(--soft); font-size: .85rem; }
.soft, figcaption { color: var(--soft); font-size: .9rem; max-width: 48rem; }
figure { margin: 1rem 0; }
figcaption { margin-top: .3rem; }
.scroll { overflow-x: auto; max-width: 100%; overflow-wrap: normal; }
.scroll svg { display: block; }
.pair { display: flex; flex-wrap: wrap; gap: .4rem 2rem; align-items: flex-start; }
.pair > div { min-width: 0; max-width: 100%; }
table.heat { border-collapse: separate; border-spacing: 1px; font-size: .8rem;
  font-variant-numeric: tabular-nums; }
.heat th { font-weight: 400; }
.heat thead th { vertical-align: bottom; height: 1px; padding: 0 0 .2rem; }
.heat thead span { writing-mode: vertical-rl; transform: rotate(180deg); max-height: 9.5rem;
  overflow: hidden; white-space: nowrap; line-height: 1.2; margin: 0 auto; display: block; }
.heat tbody th { text-align: right; padding: .1rem .4rem .1rem 0; max-width: 11rem;
  min-width: 6.5rem; overflow-wrap: anywhere; line-height: 1.2; }
.heat td { text-align: center; min-width: 3.05rem; padding: .2rem .15rem; white-space: nowrap;
  background: var(--box); }
.heat td.dark { color: #000; }
.heat td.out { outline: 2px solid var(--text); outline-offset: -2px; }
.heat td.never { background: repeating-linear-gradient(45deg, transparent 0 4px,
  rgba(128,128,128,.22) 4px 6px), var(--box); }
.key { display: inline-block; width: 1em; height: 1em; vertical-align: -.12em; margin-right: .25em;
  border-radius: 2px; }
.keyed { white-space: nowrap; }
.strip { margin: .8rem 0; break-inside: avoid; }
.strip .top { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; }
.strip .top span:last-child { color: var(--soft); font-size: .85rem; }
.strip svg { display: block; width: 100%; height: auto; }
.meter { background: var(--line); border-radius: .4rem; height: .8rem; max-width: 32rem;
  overflow: hidden; }
.meter div { background: var(--blue); height: 100%; }
svg text { fill: var(--text); font: 12.5px system-ui, -apple-system, "DejaVu Sans", sans-serif; }
.kept { fill: var(--kept); }
.merged { fill: var(--merged); }
.changed { fill: var(--changed); }
.rest { fill: var(--rest); }
.band { fill-opacity: .5; }
.node { fill: var(--text); }
.lead { stroke: var(--soft); fill: none; stroke-width: .8; }
dl.made { display: grid; grid-template-columns: minmax(7rem, max-content) minmax(0, 1fr);
  gap: .25rem 1rem; max-width: 48rem; }
dl.made dt { color: var(--soft); }
dl.made dd { margin: 0; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em; }
@media (max-width: 34rem) { h1 { font-size: 1.35rem; } .heat td { min-width: 2.7rem; }
  .cards { grid-template-columns: 1fr 1fr; } .card .value { font-size: 1.1rem; } }
@page { size: A4; margin: 15mm; }
@media print {
  :root { color-scheme: light; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2, h3 { break-after: avoid; }
  figure, .card, li, tr, dl.made { break-inside: avoid; }
  .heat { font-size: 7pt !important; } .heat td { min-width: 0; padding: .1rem .2rem; }
  .heat tbody th { max-width: 9rem; }
  .scroll { overflow: visible; } .scroll svg { max-width: 100%; min-width: 0 !important;
    height: auto; }
}
"""
