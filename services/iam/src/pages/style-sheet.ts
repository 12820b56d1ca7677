import { createHash } from "node:crypto";

/** The style sheet of all pages: light and dark, from phones to desktops, without fonts or pictures. */
export const STYLE_SHEET = `
:root{color-scheme:light dark;
--back:light-dark(#f3f4f6,#14171a);--card:light-dark(#fff,#1d2125);--text:light-dark(#1b1f24,#e6e8ea);
--quiet:light-dark(#525b65,#a8b0b8);--line:light-dark(#767f89,#8b949e);--soft:light-dark(#d9dde2,#363c42);
--accent:light-dark(#0b57d0,#8ab4f8);--on:light-dark(#fff,#10233f);
--bad:light-dark(#a1160e,#ffb4ab);--bad-back:light-dark(#fdeeec,#3b1513);
--good:light-dark(#0b5c2f,#8fd8a8);--good-back:light-dark(#e8f5ec,#12301d)}
:root[data-theme=light]{color-scheme:light}
:root[data-theme=dark]{color-scheme:dark}
*{box-sizing:border-box}
body{margin:0;padding:1rem;min-height:100vh;background:var(--back);color:var(--text);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:break-word}
header,main,footer,nav{max-width:26rem;margin:0 auto}
.wide header,.wide main,.wide footer,.wide nav{max-width:46rem}
header{display:flex;align-items:center;gap:.75rem;padding:1rem 0;font-weight:600}
header img{max-height:2.5rem;max-width:min(10rem,50%)}
header span{min-width:0;overflow-wrap:anywhere}
main{background:var(--card);border:1px solid var(--soft);border-radius:.75rem;padding:1.25rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}
h2{font-size:1.15rem;margin:1.75rem 0 .5rem}
p,ul,ol,dl{margin:0 0 1rem}
a{color:var(--accent)}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem .5rem;padding:0}
nav a{display:inline-block;padding:.4rem .6rem;border-radius:.4rem}
nav a[aria-current]{background:var(--accent);color:var(--on);text-decoration:none}
.field{margin:0 0 1rem}
label,legend{display:block;font-weight:600;margin:0 0 .25rem}
fieldset{border:1px solid var(--soft);border-radius:.5rem;margin:0 0 1rem}
.hint,.quiet,footer{color:var(--quiet);font-size:.9rem}
.hint{margin:0 0 .25rem}
.wrong{color:var(--bad);font-weight:600;margin:0 0 .25rem}
input,select{width:100%;padding:.6rem;font:inherit;color:inherit;background:var(--card);
border:1px solid var(--line);border-radius:.4rem}
input[type=checkbox],input[type=radio]{width:auto}
input[readonly]{background:var(--back)}
[aria-invalid=true]{border:2px solid var(--bad)}
button,.button{display:inline-block;font:inherit;font-weight:600;padding:.6rem 1.1rem;margin:0 .4rem .5rem 0;min-height:2.75rem;
border:1px solid var(--accent);border-radius:.4rem;background:var(--accent);color:var(--on);cursor:pointer;text-align:center;text-decoration:none}
button.second,.button.second{background:transparent;color:var(--accent)}
button.danger{background:transparent;border-color:var(--bad);color:var(--bad)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.alert,.done{padding:.75rem 1rem;border-radius:.4rem;border-left:.3rem solid;margin:0 0 1rem}
.alert{background:var(--bad-back);color:var(--bad)}
.done{background:var(--good-back);color:var(--good)}
.alert p,.done p,.alert ul{margin:0}
.alert ul{list-style:none;padding:0}
.alert a{color:inherit}
code,.code{font-family:ui-monospace,monospace;overflow-wrap:anywhere}
.code{font-size:1.4rem;letter-spacing:.1em}
.codes{columns:2;list-style:none;padding:0}
.list{list-style:none;padding:0}
.list>li{border-top:1px solid var(--soft);padding:1rem 0}
.qr{display:block;max-width:13rem;width:100%;height:auto;background:#fff;padding:.5rem;margin:0 0 1rem}
footer{padding:1rem 0}
[hidden]{display:none}
@media(max-width:22rem){body{padding:.5rem}main{padding:1rem}button,.button{width:100%;margin-right:0}.codes{columns:1}}
`.trim();

/** The source by which the Content-Security-Policy allows it, and no other style. */
export const STYLE_SOURCE = `'sha256-${createHash("sha256").update(STYLE_SHEET).digest("base64")}'`;
