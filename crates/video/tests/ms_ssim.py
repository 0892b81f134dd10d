"""MS-SSIM of the test pictures of src/quality/ms_ssim.rs by NumPy: Wang, Simoncelli, Bovik 2003, as printed. Needs numpy."""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

def pair(width, height):
    y, x = np.mgrid[:height, :width]
    a = 40 + (x * x // 97 + y * y // 61 + x * y // 143) % 160
    return a.astype(float), (a // 12 * 12 + 3 + (x * 7 + y * 13) % 9).astype(float)

def ms_ssim(a, b, weights=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333), c1=6.5025, c2=58.5225):
    y, x = np.mgrid[-5:6, -5:6]
    window = np.exp(-(x * x + y * y) / (2 * 1.5**2))
    window /= window.sum()
    mean = lambda image: np.einsum("ijkl,kl->ij", sliding_window_view(image, (11, 11)), window)
    product = 1.0
    for scale, weight in enumerate(weights):
        ma, mb = mean(a), mean(b)
        contrast_structure = (2 * (mean(a * b) - ma * mb) + c2) / (mean(a * a) - ma * ma + mean(b * b) - mb * mb + c2)
        if scale == len(weights) - 1:
            contrast_structure *= (2 * ma * mb + c1) / (ma * ma + mb * mb + c1)
        product *= contrast_structure.mean() ** weight
        even = lambda image: np.pad(image, [(0, n % 2) for n in image.shape], mode="edge")
        a, b = ((e[::2, ::2] + e[::2, 1::2] + e[1::2, ::2] + e[1::2, 1::2]) / 4 for e in (even(a), even(b)))
    return product

for size in (320, 240), (253, 187), (161, 161):
    print(size, f"{ms_ssim(*pair(*size)):.8f}")
